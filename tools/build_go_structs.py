"""Writes how Go's own structs are laid out, which a server prints where it shows what changed.

Usage: python tools/build_go_structs.py [k8s.io/kubernetes' folder in the Go module cache]

Reads names, types and the order of the fields of the internal structs that pods, claims and volumes are made of; JSON
names come from the schema. Needs no network beyond what put the module into the cache.
"""

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any, Final

from baseload.kube.schema import definitions

OUTPUT: Final = Path(__file__).parents[1] / "src/baseload/kube/validation/go_structs.json"
ROOTS: Final = ("PodTemplateSpec", "PersistentVolumeClaimSpec", "PersistentVolumeSource")
OTHER_NAMES: Final = {"DeprecatedServiceAccount": "serviceAccount"}
PLAIN: Final = {"string": "s", "bool": "b", "int32": "n", "int64": "n", "int": "n", "types.UID": "s"}
MODULE: Final = "k8s.io/kubernetes@v1.37.2"
_STRUCT: Final = re.compile(r"^type (\w+) struct \{\n(.*?)^\}", re.MULTILINE | re.DOTALL)
_ALIAS: Final = re.compile(r"^type (\w+) (\S+)$", re.MULTILINE)
_FIELD: Final = re.compile(r"^\s+(?:([A-Z]\w*)\s+)?([\w.*\[\]]+)\s*(?:`[^`]*`)?\s*(?://.*)?$")


def main() -> None:
    """Writes the file."""
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else _module()
    text = (folder / "pkg/apis/core/types.go").read_text()
    found = Structs(dict(_STRUCT.findall(text)), dict(_ALIAS.findall(text)))
    for root in ROOTS:
        found.add(root)
    rows = ",\n".join(f"{json.dumps(name)}: {json.dumps(fields)}" for name, fields in sorted(found.made.items()))
    OUTPUT.write_text(f"{{\n{rows}\n}}\n")
    print(OUTPUT, len(found.made), "structs")


def _module() -> Path:
    cache = subprocess.run(["go", "env", "GOMODCACHE"], capture_output=True, text=True, check=True).stdout.strip()
    return Path(cache) / MODULE


class Structs:
    """The structs that are reached, each as its fields: `GoName jsonName code[ struct]`."""

    def __init__(self, bodies: dict[str, str], aliases: dict[str, str]) -> None:
        self._bodies, self._aliases = bodies, aliases
        self.made: dict[str, list[str]] = {}

    def add(self, name: str) -> None:
        if name in self.made:
            return
        self.made[name] = []
        self.made[name] = self._fields(name, _json_names(name))

    def _fields(self, name: str, known: dict[str, str]) -> list[str]:
        fields: list[str] = []
        for line in self._bodies[name].splitlines():
            field = _FIELD.match(line)
            if field is None:
                continue
            go_name, go_type = field.groups()
            if go_type == "metav1.ObjectMeta":
                fields.append("* metadata M")
                continue
            if go_name is None:  # an embedded struct, whose fields stand among the others
                fields += self._fields(go_type, known)
                continue
            told = OTHER_NAMES.get(go_name) or known.get(go_name.lower(), "-")
            fields.append(f"{go_name} {told} {self._code(go_type)}")
        return fields

    def _code(self, go_type: str) -> str:
        if go_type.startswith("*"):
            inner = self._struct(go_type[1:])
            return f"P {inner}" if inner else "p"
        if go_type.startswith("[]"):
            inner = self._struct(go_type[2:])
            return f"L {inner}" if inner else "p"
        if go_type.startswith("map[") or self._aliases.get(go_type, "").startswith("map["):
            return "p"
        inner = self._struct(go_type)
        if inner:
            return f"S {inner}"
        if go_type == "resource.Quantity":
            return "q"
        if go_type == "intstr.IntOrString":
            return "n"
        return PLAIN.get(self._aliases.get(go_type, go_type), "p")

    def _struct(self, go_type: str) -> str:
        if go_type in self._bodies:
            self.add(go_type)
            return go_type
        return ""


def _json_names(name: str) -> dict[str, str]:
    """Names of a definition's fields by their small letters."""
    official: dict[str, Any] = definitions._official()["definitions"]
    told = official.get(f"io.k8s.api.core.v1.{name}")
    if told is None and name.endswith("Source"):
        told = official.get("io.k8s.api.core.v1.PersistentVolumeSpec")
    return {field.lower(): field for field in (told or {}).get("properties", {})}


if __name__ == "__main__":
    main()
