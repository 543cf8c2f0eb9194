"""Writes the table by which protobuf bodies are read, from the Go modules of Kubernetes.

    python tools/build_protobuf.py [MODULES]

MODULES is Go's module cache, the folder that `go env GOMODCACHE` names, after
`go mod download k8s.io/api@v0.37.2 k8s.io/apimachinery@v0.37.2 k8s.io/apiextensions-apiserver@v0.37.2
k8s.io/kube-aggregator@v0.37.2`.
Of each message the table has the fields: number, JSON name, type, how often, and what JSON says where there is none.
Numbers and types stand in `generated.proto`; the JSON name, whether a field is a pointer and whether an empty one is
left out stand in the tags of `types.go`. Descriptions are not taken.

The modules are not part of the repository, so `make check` cannot rebuild the output: this script records its own sum
and that of its output in `tools/generated.sha256`.
"""

import gzip
import json
import re
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from tools import check_generated

VERSION = "v0.37.2"
OUTPUT = "src/baseload/kube/protobuf/v1.37.json.gz"
META = "k8s.io.apimachinery.pkg.apis.meta.v1"
# proto package -> folder below the module cache; whose kinds are taken, and those that these are made of
KINDS = {
    **{
        f"k8s.io.api.{name.replace('/', '.')}": f"api@{VERSION}/{name}"
        for name in (
            "core/v1",
            "admissionregistration/v1",
            "apps/v1",
            "authentication/v1",
            "authorization/v1",
            "autoscaling/v1",
            "autoscaling/v2",
            "batch/v1",
            "certificates/v1",
            "coordination/v1",
            "discovery/v1",
            "events/v1",
            "networking/v1",
            "node/v1",
            "policy/v1",
            "rbac/v1",
            "resource/v1",
            "scheduling/v1",
            "storage/v1",
        )
    },
    "k8s.io.apiextensions_apiserver.pkg.apis.apiextensions.v1": (
        f"apiextensions-apiserver@{VERSION}/pkg/apis/apiextensions/v1"
    ),
    "k8s.io.kube_aggregator.pkg.apis.apiregistration.v1": f"kube-aggregator@{VERSION}/pkg/apis/apiregistration/v1",
}
PARTS = {
    "k8s.io.api.scheduling.v1alpha3": f"api@{VERSION}/scheduling/v1alpha3",
    META: f"apimachinery@{VERSION}/pkg/apis/meta/v1",
    "k8s.io.apimachinery.pkg.api.resource": f"apimachinery@{VERSION}/pkg/api/resource",
    "k8s.io.apimachinery.pkg.runtime": f"apimachinery@{VERSION}/pkg/runtime",
    "k8s.io.apimachinery.pkg.util.intstr": f"apimachinery@{VERSION}/pkg/util/intstr",
}
OPTIONS = ("CreateOptions", "DeleteOptions", "PatchOptions", "UpdateOptions", "Status")
SCALARS = frozenset({"string", "bool", "int32", "int64", "uint32", "uint64", "double", "bytes"})

_MESSAGE = re.compile(r"^message (\w+) \{\n(.*?)^\}", re.MULTILINE | re.DOTALL)
_FIELD = re.compile(r"^  (?:(optional|repeated|required) )?(map<string, ([\w.]+)>|[\w.]+) (\w+) = (\d+);", re.MULTILINE)
_STRUCT = re.compile(r"^type (\w+) struct \{\n(.*?)^\}", re.MULTILINE | re.DOTALL)
_SLICE = re.compile(r"^type (\w+) \[\]string$", re.MULTILINE)
_MEMBER = re.compile(r"^\t(?:(\w+)[ \t]+)?([*\[\]\w.]+)[ \t]+`([^`]*)`", re.MULTILINE)
_JSON = re.compile(r'json:"([^"]*)"')
_NUMBER = re.compile(r'protobuf:"\w+,(\d+)')
_GROUP = re.compile(r'^const GroupName = "([^"]*)"', re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Member:
    """A field as the Go struct has it."""

    name: str
    type: str
    json: str
    options: tuple[str, ...]

    def absent(self, label: str, of: str) -> str:
        """What JSON says where the field is empty: see `baseload.kube.protobuf.table`."""
        omits = "omitempty" in self.options or "omitzero" in self.options
        if self.type.startswith("*"):
            return "pointer" if omits else "null"
        if not self.json:
            return "inline"
        if label or of in SCALARS:
            return "omitted" if omits else "zero"
        return "omitted" if "omitzero" in self.options else "struct"


@dataclass(slots=True)
class Package:
    """A folder of Go, read."""

    name: str
    messages: dict[str, str]  # name -> fields, as text
    structs: dict[str, dict[int, Member]]  # name -> number -> field
    kinds: set[str] = field(default_factory=set)
    slices: set[str] = field(default_factory=set)
    group: str = ""

    @classmethod
    def read(cls, name: str, folder: Path) -> "Package":
        sources = [file.read_text() for file in sorted(folder.glob("*.go")) if not file.name.endswith("_test.go")]
        go = re.sub(r"[ \t]*//.*", "", "\n".join(sources))
        proto = re.sub(r"[ \t]*//.*", "", (folder / "generated.proto").read_text())
        group = _GROUP.search(go)
        bodies = dict(_STRUCT.findall(go))
        return cls(
            name,
            dict(_MESSAGE.findall(proto)),
            {struct: _members(body) for struct, body in bodies.items()},
            {struct for struct, body in bodies.items() if re.search(r"^\t(\w+\.)?TypeMeta\b", body, re.MULTILINE)},
            set(_SLICE.findall(go)),
            group[1] if group else "",
        )


def _members(body: str) -> dict[int, Member]:
    found = {}
    for name, type, tag in _MEMBER.findall(body):
        json_tag, number = _JSON.search(tag), _NUMBER.search(tag)
        if json_tag is None or number is None or json_tag[1] == "-":
            continue
        named, *options = json_tag[1].split(",")
        found[int(number[1])] = Member(name or type.rpartition(".")[2], type, named, tuple(options))
    return found


def _untold(name: str) -> Member:
    """A field of a type that writes its JSON itself."""
    return Member(name[:1].upper() + name[1:], "*", name[:1].lower() + name[1:], ("omitempty",))


def short(name: str) -> str:
    """core.v1.Pod, resource.Quantity."""
    parts = name.split(".")
    return ".".join(parts[-3:] if re.fullmatch(r"v\d\w*", parts[-2]) else parts[-2:])


class Table:
    """The messages that are reachable from the kinds."""

    def __init__(self, packages: dict[str, Package]) -> None:
        self.packages = packages
        self.messages: dict[str, list[list[object]]] = {}

    def add(self, package: Package, name: str) -> str:
        """Takes a message and what it is made of; its short name."""
        known = short(f"{package.name}.{name}")
        if known in self.messages:
            return known
        rows = self.messages[known] = []
        members = package.structs.get(name, {})
        for label, type, valued, proto_name, digits in _FIELD.findall(package.messages[name]):
            number = int(digits)
            often = "map" if valued else "list" if label == "repeated" else ""
            of = self._type(package, valued or type)
            member = members.get(number) or _untold(proto_name)
            row: list[object] = [number, member.json, of, often, member.absent(often, of)]
            if name in package.slices:
                row = [number, "items", of, often, "alone"]
            if member.name != member.json[:1].upper() + member.json[1:]:
                row.append(member.name)
            rows.append(row)
        return known

    def _type(self, package: Package, name: str) -> str:
        if name in SCALARS:
            return name
        if not name.startswith("."):
            return self.add(package, name)
        home, _, message = name[1:].rpartition(".")
        return self.add(self.packages[home], message)


def build(modules: Path) -> bytes:
    """The table as the package carries it."""
    packages = {name: Package.read(name, modules / "k8s.io" / folder) for name, folder in {**KINDS, **PARTS}.items()}
    table = Table(packages)
    kinds = {}
    for name in KINDS:
        package = packages[name]
        version = name.rpartition(".")[2]
        api_version = f"{package.group}/{version}" if package.group else version
        for kind in sorted(package.kinds & package.messages.keys()):
            if not kind.endswith(("List", "Options")):
                kinds[f"{api_version}/{kind}"] = table.add(package, kind)
    for kind in OPTIONS:
        kinds[kind] = table.add(packages[META], kind)
    content = {"version": VERSION, "kinds": kinds, "messages": dict(sorted(table.messages.items()))}
    text = json.dumps(content, separators=(",", ":"))
    return gzip.compress(text.encode(), compresslevel=9, mtime=0)


def main(arguments: list[str]) -> None:
    """Write what is generated, and its sums."""
    folder = arguments[0] if arguments else subprocess.check_output(["go", "env", "GOMODCACHE"], text=True).strip()
    data = build(Path(folder))
    (check_generated.ROOT / OUTPUT).write_bytes(data)
    check_generated.record(check_generated.ROOT, [__file__, str(check_generated.ROOT / OUTPUT)])
    content = json.loads(gzip.decompress(data))
    print(f"{OUTPUT}: {len(data)} bytes, {len(content['kinds'])} kinds, {len(content['messages'])} messages")


if __name__ == "__main__":
    main(sys.argv[1:])
