"""Generate the roles and bindings that every cluster begins with, from a fresh API server.

Taken are names, rules, subjects and what gathers what, of everything that bears the label of the bootstrap roles.
The server is the one of the current kubeconfig; nobody may have touched its bootstrap roles.

    KUBECONFIG=FILE python tools/build_roles.py
    python tools/check_generated.py --record tools/build_roles.py src/baseload/embedded/api/authorize/roles.json
"""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
TARGET = "src/baseload/embedded/api/authorize/roles.json"

_LABEL = "kubernetes.io/bootstrapping=rbac-defaults"
_JOINS = "rbac.authorization.k8s.io/aggregate-to-"
_CORE = "core"  # how the core group, whose name is empty, is written


def _objects(kind: str) -> list[dict[str, Any]]:
    kubectl = Path(sys.executable).with_name("kubectl")
    command = [str(kubectl), "get", kind, "-A", "-l", _LABEL, "-o", "json"]
    found: list[dict[str, Any]] = json.loads(subprocess.check_output(command))["items"]
    return sorted(found, key=_key)


def _key(tree: dict[str, Any]) -> str:
    metadata = tree["metadata"]
    return f"{metadata['namespace']}/{metadata['name']}" if "namespace" in metadata else str(metadata["name"])


def _rule(rule: dict[str, Any]) -> str:
    """Verbs, groups, resources and names, or verbs and paths, as words with commas in them."""
    words = [rule["verbs"]]
    if "nonResourceURLs" in rule:
        words.append(rule["nonResourceURLs"])
    else:
        words += [[group or _CORE for group in rule["apiGroups"]], rule["resources"]]
        words += [rule["resourceNames"]] if "resourceNames" in rule else []
    return " ".join(",".join(word) for word in words)


def _role(tree: dict[str, Any]) -> dict[str, Any]:
    selectors = tree.get("aggregationRule", {}).get("clusterRoleSelectors", ())
    gathers = [label.removeprefix(_JOINS) for selector in selectors for label in selector["matchLabels"]]
    joins = [label.removeprefix(_JOINS) for label in tree["metadata"].get("labels", {}) if label.startswith(_JOINS)]
    rules = [] if gathers else [_rule(rule) for rule in tree.get("rules") or ()]
    return {key: value for key, value in (("joins", joins), ("gathers", gathers), ("rules", rules)) if value}


def _subject(subject: dict[str, str]) -> str:
    name = f"{subject['namespace']}/{subject['name']}" if "namespace" in subject else subject["name"]
    return f"{subject['kind']} {name}"


def _binding(tree: dict[str, Any]) -> dict[str, Any]:
    role = tree["roleRef"]
    return {"role": f"{role['kind']} {role['name']}", "subjects": [_subject(held) for held in tree.get("subjects", ())]}


def main() -> None:
    """Write what a server has."""
    content = {
        "ClusterRole": {_key(tree): _role(tree) for tree in _objects("clusterroles")},
        "Role": {_key(tree): _role(tree) for tree in _objects("roles")},
        "ClusterRoleBinding": {_key(tree): _binding(tree) for tree in _objects("clusterrolebindings")},
        "RoleBinding": {_key(tree): _binding(tree) for tree in _objects("rolebindings")},
    }
    text = json.dumps(content, indent=1, ensure_ascii=False) + "\n"
    (ROOT / TARGET).write_text(text, encoding="utf-8")
    print(f"{TARGET}: {len(text)} bytes")


if __name__ == "__main__":
    main()
