"""A file of static tokens, as kube-apiserver reads it: TOKEN,USER,UID and, in quotes, "GROUP,GROUP" a line."""

import csv
from pathlib import Path

from baseload.embedded.api.identity import AUTHENTICATED, Identity
from baseload.values.errors import BadInput, Fault


def read(file: Path) -> dict[str, Identity]:
    """Token -> whose it is. Faults name lines, never what stands in them."""
    try:
        text = file.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        why = error.strerror if isinstance(error, OSError) else "is not UTF-8"
        raise BadInput([Fault(f"cannot be read: {why}", file=str(file))]) from error
    users: dict[str, Identity] = {}
    faults: list[Fault] = []
    for number, row in enumerate(csv.reader(text.splitlines(), skipinitialspace=True), 1):
        if not row or row[0].startswith("#"):
            continue
        token, user, uid, *more = (*map(str.strip, row), "", "")
        if not token or not user or len(row) < 3:
            faults.append(Fault(f'line {number}: must be TOKEN,USER,UID or TOKEN,USER,UID,"GROUP,…"', file=str(file)))
            continue
        groups = [group.strip() for group in more[0].split(",") if group.strip()]
        users[token] = Identity(user, (*groups, AUTHENTICATED), uid)
    if faults:
        raise BadInput(faults)
    return users
