"""Raised digits, which are no digits of the number before them: Article 21¹, 10⁶, the mark of a note."""

RAISED = "⁰¹²³⁴⁵⁶⁷⁸⁹"
TO_RAISED = str.maketrans("0123456789", RAISED)
FROM_RAISED = str.maketrans(RAISED, "0123456789")
