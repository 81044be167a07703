"""Parts of the reader of DOCX: changes, numbers, and the names of elements."""
