"""The portal as servers on loopback."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.ingestion.web_server import Site, context_of, page, self_signed, serving
from tests.portal.site import Branch, branches
from tests.portal.workbook import write_workbook


@dataclass(frozen=True, slots=True)
class Portal:
    """The portal, a server that must not be asked, one with an unsigned certificate, and the list."""

    site: Site
    other: Site
    secure: Site
    branches: tuple[Branch, ...]
    workbook: Path

    @property
    def intranet(self) -> str:
        """Networks that may be asked although they are not public."""
        return f"127.0.0.1:{self.site.port},127.0.0.1:{self.secure.port}"


@pytest.fixture(scope="session")
def portal(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Portal]:
    """Yield the portal with its list."""
    folder = tmp_path_factory.mktemp("portal")
    with serving({}) as site, serving({}) as other, serving({}, tls=context_of(self_signed(folder))) as secure:
        made = tuple(branches(site, other, secure))
        site.answers["/robots.txt"] = page("User-agent: *\nDisallow: /private/", "text/plain")
        for branch in made:
            site.answers.update(branch.answers)
        yield Portal(site, other, secure, made, write_workbook(folder / "seeds.xlsx", site, made))
