"""Parts of the admin page for people and the audit log."""
