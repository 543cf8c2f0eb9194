"""The certificates of a server with TLS: an authority of its own, and what that signs.

In the folder are, under kubeadm's names, the authority (ca), the server's certificate (apiserver) and the
administrator's (admin), each with its key. What is there is used again, but for a certificate that ends soon; keys are
readable by their owner alone.
"""

import ipaddress
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Final

from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    NoEncryption,
    PrivateFormat,
    load_pem_private_key,
)
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

from baseload.embedded import private
from baseload.embedded.api.identity import ADMIN, MASTERS
from baseload.values.errors import BadInput, Fault

_NAMES: Final = (
    "localhost",
    "kubernetes",
    "kubernetes.default",
    "kubernetes.default.svc",
    "kubernetes.default.svc.cluster.local",
)
_ADDRESSES: Final = ("127.0.0.1", "::1", "10.96.0.1")
_AUTHORITY_LASTS: Final = timedelta(days=3650)
_LASTS: Final = timedelta(days=365)
_RENEWED_BEFORE: Final = timedelta(days=30)
_CLOCKS_APART: Final = timedelta(hours=1)

_Builder = Callable[[x509.CertificateBuilder], x509.CertificateBuilder]


@dataclass(frozen=True, slots=True)
class Pair:
    """A certificate and its key, by the files that hold them."""

    certificate: Path
    key: Path


@dataclass(frozen=True, slots=True)
class Pki:
    """All that a server with TLS and its administrator need."""

    authority: Pair
    server: Pair
    admin: Pair


def prepare(folder: Path) -> Pki:
    """The certificates in a folder, made where they are missing or end soon."""
    pki = Pki(*(Pair(folder / f"{name}.crt", folder / f"{name}.key") for name in ("ca", "apiserver", "admin")))
    try:
        authority = _authority(pki.authority)
        _keep(pki.server, authority, _subject("kube-apiserver"), _of_server)
        _keep(pki.admin, authority, _subject(ADMIN.name, MASTERS), _of_client)
    except OSError as error:
        raise _unusable(folder, f"cannot be used: {error.strerror}") from error
    return pki


_Signer = tuple[x509.Certificate, ec.EllipticCurvePrivateKey]


def _authority(pair: Pair) -> _Signer:
    if pair.certificate.exists():
        return _read(pair)
    name, key = _subject("baseload"), ec.generate_private_key(ec.SECP256R1())
    builder = _begun(name, name, key.public_key(), _AUTHORITY_LASTS)
    builder = builder.add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
    builder = builder.add_extension(_usage(signs=True), critical=True)
    certificate = builder.sign(key, hashes.SHA256())
    _write(pair, certificate, key)
    return certificate, key


def _keep(pair: Pair, authority: _Signer, subject: x509.Name, extended: _Builder) -> None:
    """Leaves a certificate of the authority that lasts as it is; makes one in its place otherwise."""
    issuer, issuers_key = authority
    if pair.certificate.exists() and pair.key.exists():
        held, _ = _read(pair)
        lasts = held.not_valid_after_utc - datetime.now(UTC) > _RENEWED_BEFORE
        if lasts and held.issuer == issuer.subject and _is_signed(held, issuer):
            return
    key = ec.generate_private_key(ec.SECP256R1())
    builder = extended(_begun(subject, issuer.subject, key.public_key(), _LASTS))
    builder = builder.add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
    builder = builder.add_extension(_usage(signs=False), critical=True)
    builder = builder.add_extension(
        x509.AuthorityKeyIdentifier.from_issuer_public_key(issuers_key.public_key()), critical=False
    )
    _write(pair, builder.sign(issuers_key, hashes.SHA256()), key)


def _begun(
    subject: x509.Name, issuer: x509.Name, key: ec.EllipticCurvePublicKey, lasts: timedelta
) -> x509.CertificateBuilder:
    now = datetime.now(UTC)
    builder = x509.CertificateBuilder().subject_name(subject).issuer_name(issuer).public_key(key)
    builder = builder.serial_number(x509.random_serial_number())
    builder = builder.not_valid_before(now - _CLOCKS_APART).not_valid_after(now + lasts)
    return builder.add_extension(x509.SubjectKeyIdentifier.from_public_key(key), critical=False)


def _of_server(builder: x509.CertificateBuilder) -> x509.CertificateBuilder:
    names: Sequence[x509.GeneralName] = [
        *map(x509.DNSName, _NAMES),
        *(x509.IPAddress(ipaddress.ip_address(address)) for address in _ADDRESSES),
    ]
    builder = builder.add_extension(x509.SubjectAlternativeName(names), critical=False)
    return builder.add_extension(x509.ExtendedKeyUsage([ExtendedKeyUsageOID.SERVER_AUTH]), critical=False)


def _of_client(builder: x509.CertificateBuilder) -> x509.CertificateBuilder:
    return builder.add_extension(x509.ExtendedKeyUsage([ExtendedKeyUsageOID.CLIENT_AUTH]), critical=False)


def _usage(*, signs: bool) -> x509.KeyUsage:
    return x509.KeyUsage(
        digital_signature=True,
        key_encipherment=not signs,
        key_cert_sign=signs,
        crl_sign=signs,
        content_commitment=False,
        data_encipherment=False,
        key_agreement=False,
        encipher_only=False,
        decipher_only=False,
    )


def _subject(name: str, *groups: str) -> x509.Name:
    """A name whose organizations are groups."""
    organizations = [x509.NameAttribute(NameOID.ORGANIZATION_NAME, group) for group in groups]
    return x509.Name([*organizations, x509.NameAttribute(NameOID.COMMON_NAME, name)])


def _is_signed(held: x509.Certificate, issuer: x509.Certificate) -> bool:
    try:
        held.verify_directly_issued_by(issuer)
    except Exception:  # noqa: BLE001  # whatever speaks against it: another one is made
        return False
    return True


def _read(pair: Pair) -> _Signer:
    try:
        certificate = x509.load_pem_x509_certificate(pair.certificate.read_bytes())
        key = load_pem_private_key(pair.key.read_bytes(), None)
    except FileNotFoundError as error:
        raise _unusable(pair.key, "is missing, without which its certificate is of no use: remove both") from error
    except ValueError as error:
        raise _unusable(pair.certificate, "or its key cannot be read: remove both") from error
    if not isinstance(key, ec.EllipticCurvePrivateKey):
        raise _unusable(pair.key, "is no key on an elliptic curve: remove it and its certificate")
    return certificate, key


def _write(pair: Pair, certificate: x509.Certificate, key: ec.EllipticCurvePrivateKey) -> None:
    private.write(pair.key, key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()))
    private.write(pair.certificate, certificate.public_bytes(Encoding.PEM))


def _unusable(file: Path, why: str) -> BadInput:
    return BadInput([Fault(why, file=str(file))])
