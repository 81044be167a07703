"""The dataset as a workbook, CSV, JSON Lines or bibliography, and corrections made in it."""
