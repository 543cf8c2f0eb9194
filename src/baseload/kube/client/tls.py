"""The TLS settings of a kubeconfig: whom a client trusts, and which certificate it shows."""

import base64
import ssl
import tempfile

from baseload.kube.client.credentials import Credential
from baseload.kube.client.kubeconfig import Access

_WHY = {"KEY_VALUES_MISMATCH": "the key is not that of the certificate", "NO_START_LINE": "no PEM in it"}


class CertificateError(ValueError):
    """A certificate or key of no use; the text says why."""


def context(access: Access, credential: Credential) -> ssl.SSLContext:
    """The settings for a server; OSError or CertificateError where a certificate or key is of no use.

    Without an authority of the kubeconfig's the system's are trusted; all are where it says so, and only then.
    """
    try:
        return _made(access, credential)
    except ssl.SSLError as error:
        raise CertificateError(_WHY.get(error.reason or "", "no PEM in it")) from error
    except CertificateError:
        raise
    except ValueError as error:  # base64's, and that of letters in it that are not ASCII
        raise CertificateError("no PEM in it") from error


def _made(access: Access, credential: Credential) -> ssl.SSLContext:
    cluster, user = access.cluster, access.user
    authority = cluster.certificate_auth_data
    made = ssl.create_default_context(
        cafile=None if authority else cluster.certificate_auth or None, cadata=_decoded(authority) or None
    )
    if cluster.insecure:
        made.check_hostname, made.verify_mode = False, ssl.CERT_NONE
    if credential.certificate:
        _load(made, credential.certificate, credential.key)
    elif user.client_cert_data or user.client_key_data:
        _load(
            made,
            _decoded(user.client_cert_data) or _text(user.client_cert),
            _decoded(user.client_key_data) or _text(user.client_key),
        )
    elif user.client_cert:
        made.load_cert_chain(user.client_cert, user.client_key, password=_passphrase)
    return made


def _decoded(data: str | None) -> str:
    """Data of a kubeconfig as PEM; it may be broken into lines."""
    return base64.b64decode("".join(data.split()), validate=True).decode("ascii") if data else ""


def _text(file: str | None) -> str:
    if not file:
        return ""
    with open(file, encoding="ascii") as stream:
        return stream.read()


def _load(made: ssl.SSLContext, certificate: str, key: str) -> None:
    """OpenSSL takes certificates and keys from files alone: one of the user's, gone when this returns."""
    with tempfile.NamedTemporaryFile(suffix=".pem") as file:
        file.write(f"{certificate}\n{key}\n".encode())
        file.flush()
        made.load_cert_chain(file.name, password=_passphrase)


def _passphrase() -> str:
    """OpenSSL would ask at the terminal."""
    raise CertificateError("the key is encrypted")
