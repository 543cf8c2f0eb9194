"""Texts in expressions that must be something: regular expressions, durations, instants.

Regular expressions are RE2's, as they are on a real server: none takes longer than its text is long.
"""

from functools import lru_cache
from typing import Any, Protocol, cast

from baseload.kube.cel.values import Failure
from baseload.values import duration, instant


class Pattern(Protocol):
    """A compiled regular expression."""

    def search(self, text: str) -> Any: ...

    def finditer(self, text: str) -> Any: ...


@lru_cache(maxsize=512)
def _compiled(pattern: str) -> Pattern | str:
    import re2  # a compiled module, which only rules need

    options = re2.Options()
    options.log_errors = False
    try:
        return cast(Pattern, re2.compile(pattern, options))
    except re2.error as error:
        return str(error)


def regex(pattern: str) -> Pattern:
    """The regular expression that a text is."""
    found = _compiled(pattern)
    if isinstance(found, str):
        raise Failure(f"error parsing regexp: {found}: `{pattern}`")
    return found


def is_regex(text: str) -> bool:
    return not isinstance(_compiled(text), str)


def is_duration(text: str) -> bool:
    return _reads(duration.parse, text)


def is_timestamp(text: str) -> bool:
    return _reads(instant.parse, text)


def _reads(parse: Any, text: str) -> bool:
    try:
        parse(text)
    except ValueError:
        return False
    return True
