"""Pages as pictures: drawn in processes of their own, and kept."""
