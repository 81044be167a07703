"""Reading one document: its pages as text, its outline, finding in it, and what changed between two versions."""
