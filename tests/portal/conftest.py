"""The portal as servers on loopback."""

from __future__ import annotations

import ssl
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.ingestion.backends.web_server import Site, page, serving
from tests.portal.site import Branch, branches
from tests.portal.workbook import write_workbook


@dataclass(frozen=True, slots=True)
class Portal:
    """The portal, a server that nobody may ask, one whose certificate nobody signed, and the list of sources."""

    site: Site
    other: Site
    secure: Site
    branches: tuple[Branch, ...]
    workbook: Path

    @property
    def intranet(self) -> str:
        """What may be asked although it is not public."""
        return f"127.0.0.1:{self.site.port},127.0.0.1:{self.secure.port}"


@pytest.fixture(scope="session")
def portal(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Portal]:
    """The portal with its list."""
    folder = tmp_path_factory.mktemp("portal")
    with serving({}) as site, serving({}) as other, serving({}, tls=_unsigned(folder)) as secure:
        made = tuple(branches(site, other, secure))
        site.answers["/robots.txt"] = page("User-agent: *\nDisallow: /private/", "text/plain")
        for branch in made:
            site.answers.update(branch.answers)
        yield Portal(site, other, secure, made, write_workbook(folder / "seeds.xlsx", site, made))


def _unsigned(folder: Path) -> ssl.SSLContext:
    """A certificate that no authority has signed."""
    key, certificate = folder / "key.pem", folder / "certificate.pem"
    command = ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"]
    command += ["-keyout", str(key), "-out", str(certificate), "-days", "2", "-subj", "/CN=127.0.0.1"]
    subprocess.run(command, check=True, capture_output=True)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, key)
    return context
