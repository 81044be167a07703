"""What the reader of DOCX makes of a document before it reads the words."""
