"""`python -m cli` is `sextant`."""

from cli.main import main

main()
