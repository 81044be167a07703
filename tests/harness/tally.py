"""Result of one part of the harness: cases tried, cases survived, and the losses of the others."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Effort = Literal["short", "whole"]


@dataclass(frozen=True)
class Tally:
    """Cases of one kind, such as "kill -9 at a write of add".

    `lost` has a sentence for each case that was not survived. `left_out` says why no case could be tried here.
    """

    what: str
    tried: int
    lost: tuple[str, ...] = ()
    left_out: str = ""

    @property
    def survived(self) -> int:
        """Return the number of cases after which nothing was lost."""
        return self.tried - len(self.lost)

    def __str__(self) -> str:
        """Return a line of the report, and one for each loss."""
        if self.left_out:
            return f"not tried  {self.what}: {self.left_out}"
        line = f"{self.survived} of {self.tried}  {self.what}"
        return "\n".join([line, *(f"    lost: {one}" for one in self.lost)])
