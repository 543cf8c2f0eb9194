"""kubectl's tables: the columns, their order and the blanks of a real server, for each kind and state of an object.

The objects lie in `tables/`, what was printed of them in `golden/tables/`. Each has a status as rich as its kind's
columns show; one of each kind has next to nothing.
"""

from pathlib import Path

import pytest
import yaml

from baseload.kube import kinds
from baseload.kube.served import BUILT_IN
from tests.kubectl import printed
from tests.kubectl.conftest import Kubectl
from tests.kubectl.recorded import Recorded
from tests.servers.asking import TABLE, ask, collection, put

FILES = sorted(Path(__file__).with_name("tables").glob("*.yaml"))
LABEL = "rows=these"
LABELS = "karpenter.sh/capacity-type,topology.kubernetes.io/zone,absent"
COUNTS = "NAME:.metadata.name,WANTED:.spec.replicas,READY:.status.readyReplicas"
MORE = {
    "nodes": (f"get nodes -L {LABELS}", "get nodes --show-labels", "get nodes -o name"),
    "pods": ("get pods -A", "get pods --sort-by=.status.phase", "get pods --field-selector=status.phase=Failed"),
    "workloads": ("get all", "get deployments,replicasets", f"get deployments -o custom-columns={COUNTS}"),
    "karpenter": (
        "get nodepools -o jsonpath={.items[1].spec.template.spec.startupTaints}",
        f"get nodeclaims -L {LABELS}",
        "get nodepools,nodeclaims",
    ),
}
"""What is asked beside the plain and the wide table of each kind."""


@pytest.mark.parametrize("file", FILES, ids=[file.stem for file in FILES])
def test_tables_are_those_of_a_real_server(kubectl: Kubectl, recorded: Recorded, file: Path) -> None:
    put(kubectl.server, {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "tables"}})
    trees = list(yaml.safe_load_all(file.read_text(encoding="utf-8")))
    for tree in trees:
        tree["metadata"].setdefault("labels", {}).update([LABEL.split("=")])
        put(kubectl.server, tree, "tables")
    found = [kinds.find(tree["apiVersion"], tree["kind"]) for tree in trees]
    names = dict.fromkeys(kind.name.lower() for kind in found if kind is not None)

    commands = [f"get {name}{form}" for name in names for form in ("", " -o wide")]
    commands += MORE.get(file.stem, ())
    shown = [f"$ kubectl {command}\n{_run(kubectl, command)}" for command in commands]

    recorded(f"tables/{file.stem}.txt", "\n".join(shown))


def _run(kubectl: Kubectl, command: str) -> str:
    return printed.without_ages(kubectl(*command.split(), "-n", "tables", "-l", LABEL))


def test_columns_have_the_types_and_priorities_of_a_real_server(kubectl: Kubectl, recorded: Recorded) -> None:
    told = []
    for served in BUILT_IN:
        code, answer = ask(kubectl.server, "GET", collection(served.kind.api_version, served.kind.name), accept=TABLE)
        assert code == 200, answer
        told.append(f"{served.kind.api_version} {served.kind.name}\n")
        told += [
            f"  {column['name']}: {column['type']} {column['format'] or '-'} {column['priority']}\n"
            for column in answer["columnDefinitions"]
        ]

    recorded("columns.txt", "".join(told))
