"""What names, labels, ports, addresses and paths must look like, and what is said of those that do not.

Each function gives everything that is wrong with a text, in the order of a server; an empty tuple is a sound text.
Most texts are seen again and again, so the answers are remembered.
"""

import re
from functools import lru_cache
from ipaddress import AddressValueError, IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network
from typing import Any, Final

from baseload.kube.validation.fault import Faults, Tree, invalid, required
from baseload.values import label

_EDGES: Final = "and must start and end with an alphanumeric character"
_USED: Final = "regex used for validation is"
_LABEL: Final = r"[a-z0-9]([-a-z0-9]*[a-z0-9])?"
_SUBDOMAIN: Final = rf"{_LABEL}(\.{_LABEL})*"
_UNDERSCORED: Final = r"_?[a-z0-9]([-_a-z0-9]*[a-z0-9])?"
_NAME: Final = "([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]"
_NAME_SAYS: Final = (
    f"must consist of alphanumeric characters, '-', '_' or '.', {_EDGES} "
    f"(e.g. 'MyName',  or 'my.name',  or '123-abc', {_USED} '{_NAME}')"
)
_LABEL_SAYS: Final = (
    f"a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', {_EDGES} "
    f"(e.g. 'my-name',  or '123-abc', {_USED} '{_LABEL}')"
)
_SUBDOMAIN_SAYS: Final = (
    f"a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', {_EDGES} "
    f"(e.g. 'example.com', {_USED} '{_SUBDOMAIN}')"
)
_ANY_CASE_SAYS: Final = (
    f"an RFC 1123 subdomain must consist of alphanumeric characters, '-' or '.', {_EDGES} "
    f"(e.g. 'Example.com', {_USED} '{_SUBDOMAIN}')"
)
_UNDERSCORED_SAYS: Final = (
    f"a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '_', '-' or '.', {_EDGES} "
    rf"(e.g. 'example.com', {_USED} '{_UNDERSCORED}(\.{_UNDERSCORED})*')"
)
_WILDCARD: Final = rf"\*\.{_SUBDOMAIN}"
_WILDCARD_SAYS: Final = (
    "a wildcard DNS-1123 subdomain must start with '*.', followed by a valid DNS subdomain, which must consist of "
    "lower case alphanumeric characters, '-' or '.' and end with an alphanumeric character "
    f"(e.g. '*.example.com', {_USED} '{_WILDCARD}')"
)
_VALUE_SAYS: Final = (
    f"a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', {_EDGES} "
    f"(e.g. 'MyValue',  or 'my_value',  or '12345', {_USED} '({_NAME})?')"
)
_CONFIG_SAYS: Final = (
    "a valid config key must consist of alphanumeric characters, '-', '_' or '.' "
    f"(e.g. 'key.name',  or 'KEY_NAME',  or 'key-name', {_USED} '[-._a-zA-Z0-9]+')"
)
_HEADER_SAYS: Final = (
    "a valid HTTP header must consist of alphanumeric characters or '-' "
    f"(e.g. 'X-Header-Name', {_USED} '[-A-Za-z0-9]+')"
)
_VARIABLE_SAYS: Final = (
    "a valid environment variable name must consist only of printable ASCII characters other than '='"
)
_PERCENT_SAYS: Final = (
    "a valid percent string must be a numeric string followed by an ending '%' "
    f"(e.g. '1%',  or '93%', {_USED} '[0-9]+%')"
)
IP_SAYS: Final = "must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)"
CIDR_SAYS: Final = "must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)"
PORT_SAYS: Final = "must be between 1 and 65535, inclusive"
DOMAIN_PATH_SAYS: Final = 'must be a domain-prefixed path (such as "acme.io/foo")'

Wrong = tuple[str, ...]


def _pattern(text: str) -> re.Pattern[str]:
    return re.compile(text, re.ASCII)


_is_label: Final = _pattern(_LABEL).fullmatch
_is_any_case: Final = re.compile(_SUBDOMAIN, re.ASCII | re.IGNORECASE).fullmatch
_is_underscored: Final = _pattern(rf"{_UNDERSCORED}(\.{_UNDERSCORED})*").fullmatch
_is_name: Final = _pattern(_NAME).fullmatch
_is_wildcard: Final = _pattern(_WILDCARD).fullmatch
_is_config: Final = _pattern("[-._a-zA-Z0-9]+").fullmatch
_is_percent: Final = _pattern("[0-9]+%").fullmatch


def _limited(text: str, most: int, is_right: bool, says: str) -> Wrong:
    longer = (f"must be no more than {most} characters",) if len(text) > most else ()
    return longer if is_right else (*longer, says)


@lru_cache(maxsize=65536)
def subdomain(text: str) -> Wrong:
    """A DNS subdomain, as the names of most objects are."""
    return () if label.is_subdomain(text) else _limited(text, 253, label.is_subdomain(text[:253]), _SUBDOMAIN_SAYS)


@lru_cache(maxsize=65536)
def dns_label(text: str) -> Wrong:
    """One label of a DNS name."""
    if len(text) <= 63 and _is_label(text):
        return ()
    if "." in text and all(map(_is_label, text.split("."))):
        return ("must not contain dots",)
    return _limited(text, 63, _is_label(text) is not None, _LABEL_SAYS)


@lru_cache(maxsize=65536)
def qualified(text: str) -> Wrong:
    """A label key: a name, maybe after a subdomain and a slash."""
    if label.is_qualified_name(text):
        return ()
    parts = text.split("/")
    if len(parts) > 2:
        return (
            f"a valid label key {_NAME_SAYS} with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')",
        )
    wrong: list[str] = []
    if len(parts) == 2:
        found = subdomain(parts[0]) if parts[0] else ()
        wrong = [f"prefix part {one}" for one in found] if parts[0] else ["prefix part must be non-empty"]
    name = parts[-1]
    if not name:
        wrong.append("name part must be non-empty")
    elif len(name) > 63:
        wrong.append("name part must be no more than 63 bytes")
    if not _is_name(name):
        wrong.append(f"name part {_NAME_SAYS}")
    return tuple(wrong)


@lru_cache(maxsize=65536)
def label_value(text: str) -> Wrong:
    """The value of a label."""
    if label.is_label_value(text):
        return ()
    longer = ("must be no more than 63 bytes",) if len(text) > 63 else ()
    return longer if not text or _is_name(text) else (*longer, _VALUE_SAYS)


def any_case_subdomain(text: str) -> Wrong:
    """A DNS subdomain in which capitals may stand."""
    return _limited(text, 253, _is_any_case(text) is not None, _ANY_CASE_SAYS)


def underscored_subdomain(text: str) -> Wrong:
    """A DNS subdomain in which underscores may stand."""
    return _limited(text, 253, _is_underscored(text) is not None, _UNDERSCORED_SAYS)


def wildcard(text: str) -> Wrong:
    """A subdomain after an asterisk."""
    return _limited(text, 253, _is_wildcard(text) is not None, _WILDCARD_SAYS)


def config_key(text: str) -> Wrong:
    """A key of a ConfigMap or a Secret, which is the name of a file."""
    wrong = () if _is_config(text) else (_CONFIG_SAYS,)
    longer = ("must be no more than 253 characters",) if len(text) > 253 else ()
    if text in (".", ".."):
        return (f"must not be '{text}'",)
    return (*longer, *wrong, *(("must not start with '..'",) if text.startswith("..") else ()))


@lru_cache(maxsize=4096)
def port_name(text: str) -> Wrong:
    """The name of a port."""
    wrong: list[str] = []
    if len(text) > 15:
        wrong.append("must be no more than 15 characters")
    if not re.fullmatch("[-a-z0-9]+", text):
        wrong.append("must contain only alpha-numeric characters (a-z, 0-9), and hyphens (-)")
    if not re.search("[a-z]", text):
        wrong.append("must contain at least one letter (a-z)")
    if "--" in text:
        wrong.append("must not contain consecutive hyphens")
    if text and (text[0] == "-" or text[-1] == "-"):
        wrong.append("must not begin or end with a hyphen")
    return tuple(wrong)


@lru_cache(maxsize=1 << 12)
def variable(text: str) -> Wrong:
    """The name of an environment variable."""
    return () if re.fullmatch("[ -<>-~]+", text) else (_VARIABLE_SAYS,)


def header(text: str) -> Wrong:
    """The name of an HTTP header."""
    return () if re.fullmatch("[-A-Za-z0-9]+", text) else (_HEADER_SAYS,)


def path_segment(text: str) -> Wrong:
    """A name that may be anything that fits between two slashes, as those of roles."""
    if text in (".", ".."):
        return (f"may not be '{text}'",)
    return tuple(f"may not contain '{mark}'" for mark in "/%" if mark in text)


def address(text: str) -> IPv4Address | IPv6Address | None:
    """The address that a text stands for; None where it is none."""
    try:
        return ip_address(text)
    except (ValueError, AddressValueError):
        return None


def network(text: str) -> IPv4Network | IPv6Network | None:
    """The range of addresses that a text stands for; None where it is none."""
    try:
        return ip_network(text, strict=False) if "/" in text else None
    except ValueError:
        return None


def each(wrong: Wrong, path: str, value: object) -> Faults:
    """Each thing that is wrong with a value, as a fault of it."""
    for why in wrong:
        yield invalid(path, value, why)


def needed(rule: Any, value: str, path: str) -> Faults:
    """A text that must be there and satisfy a rule."""
    if value:
        yield from each(rule(value), path, value)
    else:
        yield required(path)


def port_number(path: str, value: int) -> Faults:
    """The number of a port."""
    if not 1 <= value <= 65535:
        yield invalid(path, value, PORT_SAYS)


def port(path: str, value: int | str) -> Faults:
    """A port by number or by name."""
    if isinstance(value, int):
        yield from port_number(path, value)
    else:
        yield from each(port_name(value), path, value)


def labels(given: Tree, path: str) -> Faults:
    """Labels, or any map of them."""
    for key, value in given.items():
        yield from each(qualified(key), path, key)
        yield from each(label_value(value), path, value)


def share(path: str, value: int | str | None) -> Faults:
    """A number of pods, or a percentage of them."""
    if isinstance(value, str):
        if not _is_percent(value):
            yield invalid(path, value, _PERCENT_SAYS)
    elif value is not None and value < 0:
        yield invalid(path, value, "must be greater than or equal to 0")


def at_most_all(path: str, value: int | str | None) -> Faults:
    """A percentage that is no more than the whole."""
    if isinstance(value, str) and _is_percent(value) and int(value[:-1]) > 100:
        yield invalid(path, value, "must not be greater than 100%")


def share_number(value: int | str | None) -> int:
    """The number in a share: of pods, or of per cent."""
    if isinstance(value, str):
        return int(value[:-1]) if _is_percent(value) else 0
    return value or 0


def domain_path(text: str, path: str) -> Faults:
    """A path that begins with a domain, as the names of controllers are."""
    domain, slash, rest = text.partition("/")
    if not slash or not domain or not rest:
        yield invalid(path, text, DOMAIN_PATH_SAYS)
        return
    yield from each(subdomain(domain), path, domain)
    if not re.fullmatch(r"[A-Za-z0-9/\-._~%!$&'()*+,;=:]+", rest):
        yield invalid(path, rest, "Invalid path (regex used for validation is '[A-Za-z0-9/\\-._~%!$&'()*+,;=:]+')")
