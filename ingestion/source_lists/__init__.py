"""Lists of sources: workbooks, feeds, sitemaps and folders."""
