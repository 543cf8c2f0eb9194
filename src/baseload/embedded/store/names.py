"""Names that the server gives: uids and what follows a generateName."""

from typing import Final

from baseload.embedded.store.ports import Chance

TRIES: Final = 8  # generated names that are taken before the client is told so
_LETTERS: Final = "bcdfghjklmnpqrstvwxz2456789"  # no vowels, no digits that look like letters
_SUFFIX: Final = 5
_PREFIX_AT_MOST: Final = 63 - _SUFFIX
_BASE: Final = len(_LETTERS)
_SUFFIXES: Final = _BASE**_SUFFIX


def uid(chance: Chance) -> str:
    """A random UUID, version 4."""
    return spelled(chance.getrandbits(128))


def spelled(number: int) -> str:
    """The UUID of a random number of 128 bits."""
    bits = number & ~(0xF000_C000 << 48) | 0x4000_8000 << 48
    digits = f"{bits:032x}"
    return f"{digits[:8]}-{digits[8:12]}-{digits[12:16]}-{digits[16:20]}-{digits[20:]}"


def suffix(number: int) -> str:
    """What follows the prefix of a generated name, for a number."""
    number %= _SUFFIXES
    text = ""
    for _ in range(_SUFFIX):
        number, letter = divmod(number, _BASE)
        text += _LETTERS[letter]
    return text


def generated(prefix: str, chance: Chance) -> str:
    """A name that begins with the prefix, or with as much of it as leaves room."""
    number = chance.getrandbits(24)
    while number >= _SUFFIXES:
        number = chance.getrandbits(24)
    return prefix[:_PREFIX_AT_MOST] + suffix(number)
