"""Glyphs that begin the items of lists."""

# Within a class of a pattern: bullets, and dashes, which begin an item only before a blank.
BULLETS = "•·▪▫‣◦●○■□►▶➢➤✓✔❖"
DASHES = "–—−*-"
