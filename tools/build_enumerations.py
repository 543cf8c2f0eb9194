"""Generate the values that fields of Kubernetes' own kinds may have, from what an API server tells in OpenAPI.

Taken are the enumerations of every definition in the package's schema file, since the source of that file has none.
The server is the one of the current kubeconfig.

    KUBECONFIG=FILE python tools/build_enumerations.py
    python tools/check_generated.py --record tools/build_enumerations.py src/baseload/embedded/api/enumerations.json
"""

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from baseload.kube.schema import definitions

ROOT = Path(__file__).resolve().parent.parent
TARGET = "src/baseload/embedded/api/enumerations.json"


def _get(path: str) -> dict[str, Any]:
    kubectl = Path(sys.executable).with_name("kubectl")
    answer: dict[str, Any] = json.loads(subprocess.check_output([str(kubectl), "get", "--raw", path]))
    return answer


def _schemas() -> dict[str, Any]:
    documents = [_get(told["serverRelativeURL"]) for told in _get("/openapi/v3")["paths"].values()]
    return {name: schema for it in documents for name, schema in it.get("components", {}).get("schemas", {}).items()}


def _values(schema: dict[str, Any]) -> list[str] | None:
    """The values of a field, of a list's items or of a map's values."""
    for inner in ("items", "additionalProperties"):
        if isinstance(schema.get(inner), dict):
            return _values(schema[inner])
    return schema.get("enum")


def _told(schema: dict[str, Any]) -> Iterator[tuple[str, list[str]]]:
    for field, held in sorted(schema.get("properties", {}).items()):
        if (values := _values(held)) is not None:
            yield field, values


def main() -> None:
    """Write what a server tells."""
    known = definitions.names()
    found = {name: dict(_told(schema)) for name, schema in sorted(_schemas().items()) if name in known}
    content = {name: fields for name, fields in found.items() if fields}
    lines = [f" {json.dumps(name)}: {json.dumps(fields)}" for name, fields in content.items()]
    text = "{\n" + ",\n".join(lines) + "\n}\n"
    (ROOT / TARGET).write_text(text, encoding="utf-8")
    print(f"{TARGET}: {len(text)} bytes")


if __name__ == "__main__":
    main()
