"""Pages as pictures: drawn in separate processes, and kept."""
