"""Evidence notebooks: quotations and answers that a person keeps, with notes and tags."""
