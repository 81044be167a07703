"""The data that flows from a document to an answer; imports nothing of ours.

Every offset counts characters of the text it names; every page counts from 1; every box is in
points with the origin at the top left of the page, as PyMuPDF draws it.
"""
