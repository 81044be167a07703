"""Phase deduplication: copies, versions and translations of one work."""
