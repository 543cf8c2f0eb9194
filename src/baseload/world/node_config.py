"""What user data has a kubelet register its node with: taints and labels, from the forms that EKS' images read.

A NodeConfig, by itself or as a part of a MIME message; a script that passes the kubelet's own flags; Bottlerocket's
settings. What cannot be read as one of these says nothing about the node, as on a machine.
"""

import email
import re
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Final

import msgspec

from baseload.kube import documents, sources
from baseload.values.taint import Taint

_FLAG: Final = re.compile(r"--(node-labels|register-with-taints)[= ]([^\s'\"\\]+)")
_MIME: Final = re.compile(r"^(mime-version|content-type):", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class NodeConfig:
    """Labels and taints that a kubelet registers with."""

    labels: Mapping[str, str] = field(default_factory=dict)
    taints: tuple[Taint, ...] = ()


class _Taint(msgspec.Struct):
    key: str = ""
    value: str = ""
    effect: str = ""


class _Config(msgspec.Struct, rename="camel"):
    register_with_taints: list[_Taint] = []


class _Kubelet(msgspec.Struct):
    config: _Config = msgspec.field(default_factory=_Config)
    flags: list[str] = []


class _Spec(msgspec.Struct):
    kubelet: _Kubelet = msgspec.field(default_factory=_Kubelet)


class _Document(msgspec.Struct):
    kind: str = ""
    spec: _Spec = msgspec.field(default_factory=_Spec)


class _Kubernetes(msgspec.Struct, rename="kebab"):
    node_labels: dict[str, str] = {}
    node_taints: dict[str, str | list[str]] = {}


class _Settings(msgspec.Struct):
    kubernetes: _Kubernetes = msgspec.field(default_factory=_Kubernetes)


class _Toml(msgspec.Struct):
    settings: _Settings = msgspec.field(default_factory=_Settings)


def read(user_data: str) -> NodeConfig:
    """What is said in it; nothing where nothing can be read."""
    labels: dict[str, str] = {}
    taints: list[Taint] = []
    for part in _parts(user_data):
        for more_labels, more_taints in (*_documents(part), _flags(part), _bottlerocket(part)):
            labels.update(more_labels)
            taints += more_taints
    return NodeConfig(labels, tuple(dict.fromkeys(taints)))


_Said = tuple[dict[str, str], list[Taint]]


def _parts(user_data: str) -> Iterator[str]:
    if not _MIME.match(user_data.lstrip()):
        yield user_data
        return
    for part in email.message_from_string(user_data.lstrip()).walk():
        body = part.get_payload(decode=True)
        if isinstance(body, bytes):
            yield body.decode(errors="replace")


def _documents(part: str) -> Iterator[_Said]:
    found, _ = documents.split(sources.Source("user data", part.encode()))
    for one in found:
        try:
            held = msgspec.json.decode(one.raw, type=_Document)
        except msgspec.ValidationError:
            continue
        if held.kind == "NodeConfig":
            yield {}, [_taint(it.key, it.value, it.effect) for it in held.spec.kubelet.config.register_with_taints]


def _flags(part: str) -> _Said:
    labels: dict[str, str] = {}
    taints: list[Taint] = []
    for name, value in _FLAG.findall(part):
        entries = [entry for entry in value.split(",") if entry]
        if name == "node-labels":
            labels.update(_pairs(entries))
        else:
            taints += [_written(entry) for entry in entries]
    return labels, taints


def _bottlerocket(part: str) -> _Said:
    try:
        held = msgspec.convert(tomllib.loads(part), type=_Toml).settings.kubernetes
    except (tomllib.TOMLDecodeError, msgspec.ValidationError):
        return {}, []
    taints = [
        _written(f"{key}={entry}")
        for key, value in held.node_taints.items()
        for entry in (value if isinstance(value, list) else [value])
    ]
    return held.node_labels, taints


def _pairs(entries: Iterable[str]) -> Iterator[tuple[str, str]]:
    for entry in entries:
        key, _, value = entry.partition("=")
        yield key, value


def _written(text: str) -> Taint:
    """KEY=VALUE:EFFECT or KEY:EFFECT, as kubectl taint writes it."""
    start, _, effect = text.rpartition(":")
    key, _, value = start.partition("=")
    return _taint(key, value, effect)


def _taint(key: str, value: str, effect: str) -> Taint:
    return Taint(key=key, value=value, effect=effect)
