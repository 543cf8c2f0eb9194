"""What a server needs to speak TLS, and what its administrator needs to be let in."""

from dataclasses import dataclass
from pathlib import Path

from baseload.embedded import pki, server
from baseload.world.kubeconfig import Admission


@dataclass(frozen=True, slots=True)
class Tls:
    """A server's files, and its administrator's credentials."""

    files: server.Tls
    admission: Admission


def prepare(folder: Path) -> Tls:
    """The certificates in a folder, made where they are missing."""
    made = pki.prepare(folder)
    authority = made.authority.certificate
    admission = Admission(authority.read_bytes(), made.admin.certificate.read_bytes(), made.admin.key.read_bytes())
    return Tls(server.Tls(made.server.certificate, made.server.key, authority), admission)
