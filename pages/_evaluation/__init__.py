"""Parts of the Evaluation page."""
