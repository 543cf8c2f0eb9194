"""Golden files that were recorded from a real server, or derived from what documents say.

The first line tells where a file comes from. One that a real server printed is written anew by a real server alone:
`pytest --update-golden --server=real`.
"""

from collections.abc import Callable
from pathlib import Path
from typing import Final

GOLDEN: Final = Path(__file__).with_name("golden")
ORIGIN: Final = "# recorded from kube-apiserver "

Recorded = Callable[[str, str], None]
"""(file below golden/, what was printed): compares, or writes"""


def text(origin: str, body: str) -> str:
    """A golden file."""
    return f"{origin}\n\n{body}"


def origin(file: Path) -> str:
    """Where a golden file comes from; "" where there is none yet."""
    return file.read_text(encoding="utf-8").partition("\n")[0] if file.exists() else ""
