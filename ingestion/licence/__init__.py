"""Phase licence: under which licence an address may be used, and why."""
