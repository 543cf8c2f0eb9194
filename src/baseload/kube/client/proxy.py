"""Through which proxy a server is reached: that of the kubeconfig, else that of the environment, as kubectl has it.

The environment's is HTTPS_PROXY or HTTP_PROXY, by how the server is spoken to, in capitals or small letters. This
machine is never reached through it, nor is what NO_PROXY names: hosts and what is below them, addresses, networks, each
with a port or for all, or everything by a star.
"""

import ipaddress
from collections.abc import Mapping
from importlib.util import find_spec
from typing import Final
from urllib.parse import SplitResult, urlsplit

SCHEMES: Final = ("http", "https", "socks5")
_DEFAULT_PORTS: Final = {"http": 80, "https": 443}


class ProxyError(ValueError):
    """A proxy of no use; the text says why, without the address, which may hold a password."""


def checked(url: str) -> str:
    """The address of a proxy; raises ProxyError where nothing can be reached through it."""
    try:
        parts = urlsplit(url)
        has_host = bool(parts.hostname) and parts.port != 0
    except ValueError:
        raise ProxyError("is no address") from None
    if parts.scheme not in SCHEMES:
        raise ProxyError(f'unsupported scheme "{parts.scheme}", must be http, https, or socks5')
    if not has_host:
        raise ProxyError("names no host")
    if parts.scheme == "socks5" and find_spec("socksio") is None:
        raise ProxyError("a socks5 proxy needs the package socksio, which is not installed")
    return url


def of_environment(server: str, environment: Mapping[str, str]) -> str | None:
    """The proxy that the environment names for a server; raises ProxyError where that is of no use."""
    parts = urlsplit(server)
    name = f"{parts.scheme.upper()}_PROXY"
    url = environment.get(name) or environment.get(name.lower())
    if not url or _is_direct(parts, environment.get("NO_PROXY") or environment.get("no_proxy") or ""):
        return None
    try:
        return checked(url if "://" in url else f"http://{url}")
    except ProxyError as error:
        raise ProxyError(f"{name}: {error}") from error


def _is_direct(server: SplitResult, exceptions: str) -> bool:
    host = (server.hostname or "").rstrip(".")
    address = _address(host)
    if host == "localhost" or (address is not None and address.is_loopback):
        return True
    port = server.port or _DEFAULT_PORTS[server.scheme]
    return any(_names(entry.strip().lower(), host, address, port) for entry in exceptions.split(","))


_Address = ipaddress.IPv4Address | ipaddress.IPv6Address


def _names(entry: str, host: str, address: _Address | None, port: int) -> bool:
    """Whether an entry of NO_PROXY names a server."""
    if entry == "*":
        return True
    name, _, its_port = entry.rpartition(":")
    if name and its_port.isdecimal() and (name.endswith("]") or ":" not in name):
        if int(its_port) != port:
            return False
        entry = name
    entry = entry.strip("[]")
    if not entry:
        return False
    if address is not None:
        return _holds(entry, address)
    if entry.startswith("*."):
        entry = entry[1:]
    return host == entry or host.endswith(entry if entry.startswith(".") else f".{entry}")


def _holds(entry: str, address: _Address) -> bool:
    try:
        return address in ipaddress.ip_network(entry, strict=False)
    except ValueError:
        return False


def _address(host: str) -> _Address | None:
    try:
        return ipaddress.ip_address(host)
    except ValueError:
        return None
