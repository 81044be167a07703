"""The way from an address through pages to a document: fetching, kinds of pages, choice of links."""
