"""URLs, addresses and networks in expressions."""

import re
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv6Address, ip_address
from typing import Final
from urllib.parse import SplitResult, parse_qs, quote, unquote, urlsplit

from baseload.kube.cel.overloads import function, method, represented_by
from baseload.kube.cel.values import Failure, no_such_overload

_CONTROL: Final = re.compile(r"[\x00-\x1f\x7f]")
_SCHEME: Final = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:")


@dataclass(frozen=True, slots=True)
class Address:
    """An IP address."""

    address: IPv4Address | IPv6Address


@dataclass(frozen=True, slots=True)
class Network:
    """An address and how many of its bits name the network."""

    address: IPv4Address | IPv6Address
    bits: int

    @property
    def masked(self) -> "Network":
        shift = self.address.max_prefixlen - self.bits
        return Network(type(self.address)(int(self.address) >> shift << shift), self.bits)

    def holds(self, address: IPv4Address | IPv6Address) -> bool:
        return address.version == self.address.version and Network(address, self.bits).masked == self.masked


@dataclass(frozen=True, slots=True)
class Url:
    """A URL, as text and in parts."""

    text: str
    parts: SplitResult


represented_by("ip", Address)
represented_by("cidr", Network)
represented_by("url", Url)


def _parsed_address(text: str) -> IPv4Address | IPv6Address:
    if "%" in text and ":" in text:
        raise Failure(f'IP address "{text}" with zone value is not allowed')
    try:
        found = ip_address(text)
    except ValueError:
        why = f'ParseAddr("{text}"): {_why_unread(text)}'
        raise Failure(f'IP Address "{text}" parse error during conversion from string: {why}') from None
    if isinstance(found, IPv6Address) and found.ipv4_mapped is not None:
        raise Failure(f'IPv4-mapped IPv6 address "{text}" is not allowed')
    return found


def _why_unread(text: str) -> str:
    fields = text.split(".")
    if len(fields) == 1 or not all(field.isdecimal() for field in fields):
        return "unable to parse IP"
    if len(fields) < 4:
        return "IPv4 address too short"
    if any(len(field) > 1 and field[0] == "0" for field in fields):
        return "IPv4 field has octet with leading zero"
    return "IPv4 address too long" if len(fields) > 4 else "IPv4 field has value >255"


def _parsed_network(text: str) -> Network:
    head, slash, bits = text.rpartition("/")
    wording = "network address parse error during conversion from string: " * 2
    if not slash:
        raise Failure(f"{wording}netip.ParsePrefix(\"{text}\"): no '/'")
    try:
        address = ip_address(head)
    except ValueError:
        raise Failure(f'{wording}netip.ParsePrefix("{text}"): ParseAddr("{head}"): unable to parse IP') from None
    if not re.fullmatch(r"0|[1-9][0-9]{0,2}", bits):
        raise Failure(f'{wording}netip.ParsePrefix("{text}"): bad bits after slash: "{bits}"')
    if int(bits) > address.max_prefixlen:
        raise Failure(f'{wording}netip.ParsePrefix("{text}"): prefix length out of range')
    if isinstance(address, IPv6Address) and address.ipv4_mapped is not None:
        raise Failure(f'IPv4-mapped IPv6 address "{text}" is not allowed')
    return Network(address, int(bits))


def _is_global(address: IPv4Address | IPv6Address) -> bool:
    special = address.is_unspecified or address.is_loopback or address.is_multicast or address.is_link_local
    return not special and str(address) != "255.255.255.255"


def _is_local_multicast(address: IPv4Address | IPv6Address) -> bool:
    if isinstance(address, IPv4Address):
        return Network(IPv4Address("224.0.0.0"), 24).holds(address)
    return int(address) >> 112 & 0xFF0F == 0xFF02


def _is_canonical(text: str) -> bool:
    return str(_parsed_address(text)) == text


def _reads_address(text: str) -> bool:
    try:
        _parsed_address(text)
    except Failure:
        return False
    return True


def _reads_network(text: str) -> bool:
    try:
        _parsed_network(text)
    except Failure:
        return False
    return True


def _holds_network(one: Network, other: Network) -> bool:
    return one.bits <= other.bits and one.holds(other.address)


def _holds_text(network: Network, text: str) -> bool:
    if not _reads_address(text):
        raise no_such_overload()  # as a server says, which does not look at why
    return network.holds(_parsed_address(text))


def _holds_network_text(network: Network, text: str) -> bool:
    if not _reads_network(text):
        raise no_such_overload()
    return _holds_network(network, _parsed_network(text))


function("ip(string) ip")(lambda text: Address(_parsed_address(text)))
function("isIP(string) bool")(_reads_address)
function("ip.isCanonical(string) bool")(_is_canonical)
function("string(ip) string")(lambda ip: str(ip.address))
method("ip.family() int")(lambda ip: ip.address.version)
method("ip.isUnspecified() bool")(lambda ip: ip.address.is_unspecified)
method("ip.isLoopback() bool")(lambda ip: ip.address.is_loopback)
method("ip.isLinkLocalMulticast() bool")(lambda ip: _is_local_multicast(ip.address))
method("ip.isLinkLocalUnicast() bool")(lambda ip: ip.address.is_link_local)
method("ip.isGlobalUnicast() bool")(lambda ip: _is_global(ip.address))
function("cidr(string) cidr")(_parsed_network)
function("isCIDR(string) bool")(_reads_network)
function("string(cidr) string")(lambda network: f"{network.address}/{network.bits}")
method("cidr.containsIP(ip) bool")(lambda network, ip: network.holds(ip.address))
method("cidr.containsIP(string) bool")(_holds_text)
method("cidr.containsCIDR(cidr) bool")(_holds_network)
method("cidr.containsCIDR(string) bool")(_holds_network_text)
method("cidr.ip() ip")(lambda network: Address(network.address))
method("cidr.prefixLength() int")(lambda network: network.bits)
method("cidr.masked() cidr")(lambda network: network.masked)


def _parsed_url(text: str) -> Url:
    try:
        if not text:
            raise ValueError("empty url")
        if _CONTROL.search(text):
            raise ValueError("net/url: invalid control character in URL")
        if not (text.startswith("/") or _SCHEME.match(text)):
            raise ValueError("invalid URI for request")
        parts = urlsplit(text)
        _ = parts.port
        if " " in parts.netloc:
            raise ValueError('invalid character " " in host name')
    except ValueError as error:
        raise Failure(f'URL parse error during conversion from string: parse "{text}": {error}') from None
    return Url(text, parts)


def _reads_url(text: str) -> bool:
    try:
        _parsed_url(text)
    except Failure:
        return False
    return True


def _host(url: Url) -> str:
    return url.parts.netloc.rpartition("@")[2]


def _hostname(url: Url) -> str:
    host = _host(url)
    if host.startswith("["):
        return host[1:].partition("]")[0]
    return host.partition(":")[0]


def _port(url: Url) -> str:
    host = _host(url)
    port = host.rpartition("]")[2] if host.startswith("[") else host
    return port.partition(":")[2]


def _escaped_path(url: Url) -> str:
    path = url.parts.path
    return path if "%" in path else quote(unquote(path), safe="/$&+,:;=@!~*'()-._")


function("url(string) url")(_parsed_url)
function("isURL(string) bool")(_reads_url)
method("url.getScheme() string")(lambda url: url.parts.scheme)
method("url.getHost() string")(_host)
method("url.getHostname() string")(_hostname)
method("url.getPort() string")(_port)
method("url.getEscapedPath() string")(_escaped_path)
method("url.getQuery() map(string, list(string))")(lambda url: parse_qs(url.parts.query, keep_blank_values=True))
