"""Names that must be DNS labels or subdomains, and what an API server says of those that are not."""

import re
from typing import Final

_LABEL: Final = "[a-z]([-a-z0-9]*[a-z0-9])?"
_SUBDOMAIN: Final = r"[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*"
_LABEL_TEXT: Final = (
    "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, "
    f"and end with an alphanumeric character (e.g. 'my-name',  or 'abc-123', regex used for validation is '{_LABEL}')"
)
_SUBDOMAIN_TEXT: Final = (
    "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and "
    f"end with an alphanumeric character (e.g. 'example.com', regex used for validation is '{_SUBDOMAIN}')"
)


def wrong_label(text: str) -> str:
    """Why a text is no DNS label that begins with a letter; "" for one that is."""
    said = ["must be no more than 63 bytes"] if len(text) > 63 else []
    said += [] if re.fullmatch(_LABEL, text) else [_LABEL_TEXT]
    return ",".join(said)


def wrong_subdomain(text: str) -> str:
    """Why a text is no DNS subdomain; "" for one that is."""
    said = ["must be no more than 253 bytes"] if len(text) > 253 else []
    said += [] if re.fullmatch(_SUBDOMAIN, text) else [_SUBDOMAIN_TEXT]
    return ",".join(said)
