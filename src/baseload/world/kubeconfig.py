"""Kubeconfig files: how kubectl finds a server. A file that is there keeps what else stands in it."""

import os
from pathlib import Path
from typing import Final

import yaml

from baseload.values.errors import BadInput, Fault

NAME: Final = "baseload"  # of the cluster, the user and the context
_Entry = dict[str, object]


def write(file: Path, server: str) -> None:
    """Makes a server the current one in a file, in one step; the file is the user's alone."""
    tree = _read(file)
    _put(tree, "clusters", {"name": NAME, "cluster": {"server": server}}, file)
    _put(tree, "users", {"name": NAME, "user": {}}, file)
    _put(tree, "contexts", {"name": NAME, "context": {"cluster": NAME, "user": NAME, "namespace": "default"}}, file)
    tree["current-context"] = NAME
    text = yaml.safe_dump(tree, sort_keys=False, allow_unicode=True)
    fresh = file.with_name(f"{file.name}.baseload-new")
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        descriptor = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        with open(descriptor, "w", encoding="utf-8") as stream:
            stream.write(text)
        fresh.replace(file)
    except OSError as error:
        raise _unusable(file, f"cannot be written: {error.strerror}") from error


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
