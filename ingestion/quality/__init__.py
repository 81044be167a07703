"""Phase quality: scores and readability."""
