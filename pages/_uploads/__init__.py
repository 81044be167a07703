"""Uploads through the browser, and the choice of a schema that may be one."""
