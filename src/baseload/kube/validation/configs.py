"""ConfigMaps and Secrets: their keys, their size, and those that may not change."""

import base64
import json
from typing import Any, Final

from baseload.kube.validation import names
from baseload.kube.validation.fault import Fault, Faults, Tree, forbidden, immutable, invalid, required
from baseload.kube.validation.names import each

_MOST: Final = 1024 * 1024  # bytes
_FIXED: Final = "field is immutable when `immutable` is set"
_REDACTED: Final = "<secret contents redacted>"
_ACCOUNT: Final = "kubernetes.io/service-account.name"
_NEEDS: Final[dict[str, tuple[str, ...]]] = {
    "kubernetes.io/dockercfg": (".dockercfg",),
    "kubernetes.io/dockerconfigjson": (".dockerconfigjson",),
    "kubernetes.io/ssh-auth": ("ssh-privatekey",),
    "kubernetes.io/tls": ("tls.crt", "tls.key"),
}
_BASIC: Final = ("username", "password")


def config_map(tree: Tree, old: Tree | None) -> Faults:
    """A ConfigMap."""
    data, binary = tree.get("data", {}), tree.get("binaryData", {})
    for key in data:
        yield from each(names.config_key(key), f"data[{key}]", key)
        if key in binary:
            yield invalid(f"data[{key}]", key, "duplicate of key present in binaryData")
    for key in binary:
        yield from each(names.config_key(key), f"binaryData[{key}]", key)
    size = sum(len(text.encode()) for text in data.values()) + sum(len(text) * 3 // 4 for text in binary.values())
    if size > _MOST:
        yield Fault("[]", f"Too long: may not be more than {_MOST} bytes")
    yield from _fixed(tree, old, "data", "binaryData")


def _fixed(tree: Tree, old: Tree | None, *fields: str) -> Faults:
    if old is None or not old.get("immutable"):
        return
    if not tree.get("immutable"):
        yield forbidden("immutable", _FIXED)
    for field in fields:
        if (tree.get(field) or {}) != (old.get(field) or {}):
            yield forbidden(field, _FIXED)


def secret(tree: Tree, old: Tree | None) -> Faults:
    """A Secret."""
    data, kind = tree.get("data", {}), tree.get("type", "")
    for key in data:
        yield from each(names.config_key(key), f"data[{key}]", key)
    if sum(len(text) * 3 // 4 for text in data.values()) > _MOST:
        yield Fault("data", f"Too long: may not be more than {_MOST} bytes")
    if kind == "kubernetes.io/service-account-token":
        if not tree.get("metadata", {}).get("annotations", {}).get(_ACCOUNT):
            yield required(f"metadata.annotations[{_ACCOUNT}]")
    elif kind == "kubernetes.io/basic-auth":
        if not any(key in data for key in _BASIC):
            yield from (required(f"data[{key}]") for key in _BASIC)
    else:
        yield from _needed(kind, data)
    if old is not None:
        if kind != old.get("type"):
            yield immutable("type", kind)
        yield from _fixed(tree, old, "data")


def _needed(kind: str, data: Tree) -> Faults:
    for key in _NEEDS.get(kind, ()):
        if key not in data:
            yield required(f"data[{key}]")
        elif key.startswith(".") and (wrong := _wrong_json(data[key])):
            yield invalid(f"data[{key}]", _REDACTED, wrong)


def _wrong_json(text: str) -> str:
    """What Go's decoder says of text that is no JSON; "" where it is."""
    decoded = base64.b64decode(text).decode(errors="replace")
    try:
        told: Any = json.loads(decoded)
    except ValueError:
        first = decoded.lstrip()[:1]
        return (
            f"invalid character '{first}' looking for beginning of value" if first else "unexpected end of JSON input"
        )
    return "" if isinstance(told, dict) else "json: cannot unmarshal into Go value of type map[string]interface {}"
