"""Catalogues of portals: CKAN, DCAT and OAI-PMH."""
