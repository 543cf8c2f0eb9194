"""The named formats of texts that custom resources' schemas may ask for; every other name asks for nothing."""

import binascii
import ipaddress
import re
from base64 import b64decode
from collections.abc import Callable
from datetime import date
from typing import Final
from urllib.parse import urlsplit

from baseload.values import duration, instant

_UNITS: Final = re.compile(
    r"[0-9]+\s*(nano(second)?s?|ns|micro(second)?s?|[uµ]s|milli(second)?s?|ms|s|sec(ond)?s?|m|min(ute)?s?|h|hr|hours?"
    r"|d|days?|w|wk|weeks?)",
    re.IGNORECASE,
)
_MAC: Final = r"[0-9a-f]{2}([:-])([0-9a-f]{2}\1){4,18}[0-9a-f]{2}|([0-9a-f]{4}\.){2,9}[0-9a-f]{4}"
_SHADE: Final = r"(0|[1-9]\d?|1\d\d?|2[0-4]\d|25[0-5])"
_HEX: Final = "[0-9a-f]"
_LABEL: Final = r"[a-z0-9]([-a-z0-9]*[a-z0-9])?"
_HOSTNAME: Final = r"[^\W_](-?[^\W_]{0,62})?|([^\W_](([^\W_]|-){0,61}[^\W_])?\.)+[^\W\d_]{2,63}"
_CARDS: Final = (
    r"4[0-9]{12}([0-9]{3})?|5[1-5][0-9]{14}|6(011|5[0-9][0-9])[0-9]{12}|3[47][0-9]{13}|3(0[0-5]|[68][0-9])[0-9]{11}"
    r"|(2131|1800|35[0-9]{3})[0-9]{11}"
)


def _matches(pattern: str, flags: re.RegexFlag = re.ASCII) -> Callable[[str], bool]:
    return lambda text: re.fullmatch(pattern, text, flags) is not None


def _parses(parse: Callable[[str], object]) -> Callable[[str], bool]:
    def accepts(text: str) -> bool:
        try:
            parse(text)
        except ValueError:
            return False
        return True

    return accepts


def _uuid(third: str, fourth: str) -> Callable[[str], bool]:
    pattern = f"{_HEX}{{8}}-?{_HEX}{{4}}-?{third}{_HEX}{{3}}-?{fourth}{_HEX}{{3}}-?{_HEX}{{12}}"
    return _matches(pattern, re.ASCII | re.IGNORECASE)


def _moment(text: str) -> object:
    return instant.parse(text.upper())


def _day(text: str) -> object:
    if not re.fullmatch(r"[0-9]{4}-[0-9]{2}-[0-9]{2}", text, re.ASCII):
        raise ValueError(text)
    return date.fromisoformat(text)


def _is_duration(text: str) -> bool:
    return _parses(duration.parse)(text) or _UNITS.search(text) is not None


def _bytes(text: str) -> object:
    if not text:
        raise ValueError(text)
    try:
        return b64decode(text, validate=True)
    except binascii.Error as error:
        raise ValueError(text) from error


def _is_uri(text: str) -> bool:
    try:
        parts = urlsplit(text)
    except ValueError:
        return False
    return bool(parts.scheme) and not re.search(r"\s", text)


def _is_hostname(text: str) -> bool:
    return len(text) <= 255 and re.fullmatch(_HOSTNAME, text) is not None


def _is_book(text: str, size: int) -> bool:
    digits = re.sub(r"[\s-]+", "", text)
    if len(digits) != size or not re.fullmatch(r"[0-9]+[0-9X]", digits, re.ASCII):
        return False
    values = [10 if digit == "X" else int(digit) for digit in digits]
    if size == 10:
        return sum((10 - index) * value for index, value in enumerate(values)) % 11 == 0
    return "X" not in digits and sum(value * (3 if index % 2 else 1) for index, value in enumerate(values)) % 10 == 0


def _is_card(text: str) -> bool:
    digits = re.sub(r"[^0-9]+", "", text)
    doubled = [int(digit) * (1 + index % 2) for index, digit in enumerate(reversed(digits))]
    return re.fullmatch(_CARDS, digits) is not None and sum(value - 9 * (value > 9) for value in doubled) % 10 == 0


def _is_name(text: str) -> bool:
    return len(text) <= 253 and re.fullmatch(rf"{_LABEL}(\.{_LABEL})*", text) is not None


FORMATS: Final[dict[str, Callable[[str], bool]]] = {
    "bsonobjectid": _matches(f"{_HEX}{{24}}", re.ASCII | re.IGNORECASE),
    "uri": _is_uri,
    "email": _matches(r"[^@\s<>,;:\"()\[\]]+@[^@\s<>,;:\"()\[\]]+|[^<>@]*<[^@\s<>]+@[^@\s<>]+>"),
    "hostname": _is_hostname,
    "ipv4": _parses(ipaddress.IPv4Address),
    "ipv6": _parses(ipaddress.IPv6Address),
    "cidr": lambda text: "/" in text and _parses(ipaddress.ip_interface)(text),
    "mac": _matches(_MAC, re.ASCII | re.IGNORECASE),
    "uuid": _uuid(_HEX, _HEX),
    "uuid3": _uuid("3", _HEX),
    "uuid4": _uuid("4", "[89ab]"),
    "uuid5": _uuid("5", "[89ab]"),
    "isbn": lambda text: _is_book(text, 10) or _is_book(text, 13),
    "isbn10": lambda text: _is_book(text, 10),
    "isbn13": lambda text: _is_book(text, 13),
    "creditcard": _is_card,
    "ssn": _matches(r"[0-9]{3}[- ]?[0-9]{2}[- ]?[0-9]{4}"),
    "hexcolor": _matches(r"#?([0-9a-fA-F]{3}|[0-9a-fA-F]{6})"),
    "rgbcolor": _matches(rf"rgb\((\s*{_SHADE}\s*,){{2}}\s*{_SHADE}\s*\)"),
    "byte": _parses(_bytes),
    "password": lambda _: True,
    "date": _parses(_day),
    "duration": _is_duration,
    "datetime": _parses(_moment),
    "k8sshortname": lambda text: len(text) <= 63 and re.fullmatch(_LABEL, text) is not None,
    "k8slongname": _is_name,
}
"""name without dashes -> whether a text is one"""


def of(name: object) -> Callable[[str], bool] | None:
    """What a format accepts; None for one that is not looked at."""
    return FORMATS.get(str(name).replace("-", "")) if name else None
