"""Kubeconfig files: how kubectl finds a server. A file that is there keeps what else stands in it."""

import base64
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

import yaml

from baseload.embedded import private
from baseload.values.errors import BadInput, Fault

NAME: Final = "baseload"  # of the cluster, the user and the context
_Entry = dict[str, object]


@dataclass(frozen=True, slots=True)
class Admission:
    """What lets its bearer in by TLS: the server's authority, a certificate and its key, all of them PEM."""

    authority: bytes
    certificate: bytes
    key: bytes = field(repr=False)


def write(file: Path, server: str, admission: Admission | None = None) -> None:
    """Makes a server the current one in a file, in one step; the file is the user's alone."""
    tree = _read(file)
    cluster, user = _Entry({"server": server}), _Entry()
    if admission is not None:
        cluster["certificate-authority-data"] = _text(admission.authority)
        user["client-certificate-data"] = _text(admission.certificate)
        user["client-key-data"] = _text(admission.key)
    _put(tree, "clusters", {"name": NAME, "cluster": cluster}, file)
    _put(tree, "users", {"name": NAME, "user": user}, file)
    _put(tree, "contexts", {"name": NAME, "context": {"cluster": NAME, "user": NAME, "namespace": "default"}}, file)
    tree["current-context"] = NAME
    text = yaml.safe_dump(tree, sort_keys=False, allow_unicode=True)
    try:
        private.write(file, text.encode())
    except OSError as error:
        raise _unusable(file, f"cannot be written: {error.strerror}") from error


def _text(content: bytes) -> str:
    return base64.b64encode(content).decode()


def _read(file: Path) -> _Entry:
    try:
        tree = yaml.safe_load(file.read_text(encoding="utf-8"))
    except FileNotFoundError:
        tree = None
    except (OSError, UnicodeDecodeError, yaml.YAMLError) as error:
        raise _unusable(file, f"cannot be read: {error}") from error
    if tree is None:
        return {"apiVersion": "v1", "kind": "Config", "preferences": {}}
    if not isinstance(tree, dict) or tree.get("kind") not in (None, "Config"):
        raise _unusable(file, "is no kubeconfig")
    return tree


def _put(tree: _Entry, key: str, entry: _Entry, file: Path) -> None:
    entries = tree.get(key) or []
    if not isinstance(entries, list) or not all(isinstance(held, dict) for held in entries):
        raise _unusable(file, f"is no kubeconfig: {key} is no list of maps")
    tree[key] = [*(held for held in entries if held.get("name") != NAME), entry]


def _unusable(file: Path, why: str) -> BadInput:
    return BadInput([Fault(why, file=str(file))])
