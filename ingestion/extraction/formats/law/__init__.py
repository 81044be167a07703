"""Law as XML: a reader by the roles of elements, and the schemes that give them."""
