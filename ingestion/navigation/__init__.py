"""From an address through pages to a document: fetching, kinds of pages, choice and relevance of links."""
