"""Reading one document: pages as text, outline, find, and the changes between two versions."""
