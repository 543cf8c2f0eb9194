"""What changed where nothing may, as a server shows it: the lines of both sides that differ, with those around them."""

import difflib
import json
from collections.abc import Mapping
from typing import Any

from baseload.kube.validation import go_structs


def of(struct: str, before: Mapping[str, Any], after: Mapping[str, Any]) -> str:
    """The differing lines of two values of a struct."""
    lines = difflib.unified_diff(_lines(struct, before), _lines(struct, after), n=3, lineterm="")
    return "".join(f"{line}\n" for line in lines if not line.startswith(("---", "+++")))


def _lines(struct: str, value: Mapping[str, Any]) -> list[str]:
    return json.dumps(go_structs.printed(struct, value), indent=1, ensure_ascii=False).splitlines()
