"""The web: checked addresses, HTTP, browser, politeness, cache and HTML."""
