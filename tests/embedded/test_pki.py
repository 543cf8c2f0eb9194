"""The certificates of a server with TLS."""

import ssl
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.x509.oid import NameOID

from baseload.embedded import pki
from baseload.values.errors import BadInput


def contents(folder: Path) -> dict[str, bytes]:
    return {file.name: file.read_bytes() for file in folder.iterdir()}


def certificate(file: Path) -> x509.Certificate:
    return x509.load_pem_x509_certificate(file.read_bytes())


def test_keys_and_certificates_are_for_their_owner_alone(tmp_path: Path) -> None:
    folder = tmp_path / "pki"
    pki.prepare(folder)
    names = {"ca.crt", "ca.key", "apiserver.crt", "apiserver.key", "admin.crt", "admin.key"}
    assert {file.name for file in folder.iterdir()} == names
    assert folder.stat().st_mode & 0o777 == 0o700
    assert {file.stat().st_mode & 0o777 for file in folder.iterdir()} == {0o600}


def test_what_is_there_is_used_again(tmp_path: Path) -> None:
    pki.prepare(tmp_path)
    before = contents(tmp_path)
    pki.prepare(tmp_path)
    assert contents(tmp_path) == before


def test_a_certificate_that_ends_soon_is_made_anew_under_the_same_authority(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patched:
        patched.setattr(pki, "_LASTS", timedelta(days=29))
        pki.prepare(tmp_path)
    before = contents(tmp_path)
    pki.prepare(tmp_path)
    after = contents(tmp_path)
    assert {name for name in after if after[name] == before[name]} == {"ca.crt", "ca.key"}
    lasts = certificate(tmp_path / "apiserver.crt").not_valid_after_utc - datetime.now(UTC)
    assert lasts > timedelta(days=300)


def test_a_new_authority_signs_new_certificates(tmp_path: Path) -> None:
    pki.prepare(tmp_path)
    before = contents(tmp_path)
    for name in ("ca.crt", "ca.key"):
        (tmp_path / name).unlink()
    pki.prepare(tmp_path)
    assert not set(contents(tmp_path).values()) & set(before.values())


def test_the_server_is_known_by_the_names_that_clients_use(tmp_path: Path) -> None:
    made = pki.prepare(tmp_path)
    found = certificate(made.server.certificate).extensions.get_extension_for_class(x509.SubjectAlternativeName).value
    assert {"localhost", "kubernetes", "kubernetes.default.svc"} <= set(found.get_values_for_type(x509.DNSName))
    assert {"127.0.0.1", "::1"} <= set(map(str, found.get_values_for_type(x509.IPAddress)))


def test_the_administrator_is_a_master(tmp_path: Path) -> None:
    subject = certificate(pki.prepare(tmp_path).admin.certificate).subject
    assert [name.value for name in subject.get_attributes_for_oid(NameOID.COMMON_NAME)] == ["system:admin"]
    assert [name.value for name in subject.get_attributes_for_oid(NameOID.ORGANIZATION_NAME)] == ["system:masters"]


def test_strict_clients_take_the_chain(tmp_path: Path) -> None:
    made = pki.prepare(tmp_path)
    server = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    server.load_cert_chain(made.server.certificate, made.server.key)
    client = ssl.create_default_context(cafile=str(made.authority.certificate))
    client.verify_flags |= ssl.VERIFY_X509_STRICT
    there, back = ssl.MemoryBIO(), ssl.MemoryBIO()
    ours = client.wrap_bio(back, there, server_hostname="localhost")
    theirs = server.wrap_bio(there, back, server_side=True)
    for end in (ours, theirs, ours, theirs):
        try:
            end.do_handshake()
        except ssl.SSLWantReadError:
            continue
    assert ours.version() == "TLSv1.3"


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("ca.key", None, "is missing, without which its certificate is of no use: remove both"),
        ("ca.crt", b"nonsense", "or its key cannot be read: remove both"),
        ("admin.key", b"nonsense", "or its key cannot be read: remove both"),
    ],
)
def test_files_that_cannot_be_used_are_named(tmp_path: Path, name: str, content: bytes | None, message: str) -> None:
    pki.prepare(tmp_path)
    (tmp_path / name).unlink() if content is None else (tmp_path / name).write_bytes(content)
    with pytest.raises(BadInput) as raised:
        pki.prepare(tmp_path)
    assert message in str(raised.value)
    assert "nonsense" not in str(raised.value)
