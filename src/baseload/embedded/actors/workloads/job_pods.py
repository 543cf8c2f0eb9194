"""The pods of a Job: with a finalizer until they are counted, and a number where the Job is Indexed."""

from typing import Final, cast

import msgspec

from baseload.embedded.actors.workloads import making
from baseload.embedded.actors.workloads.making import Tree
from baseload.embedded.store.deletion import Options
from baseload.embedded.store.record import Record

TRACKING: Final = "batch.kubernetes.io/job-tracking"
INDEX: Final = "batch.kubernetes.io/job-completion-index"
FAILURES: Final = "batch.kubernetes.io/job-index-failure-count"
FOREGROUND: Final = Options(propagation="Foreground")
_VARIABLE: Final = {
    "name": "JOB_COMPLETION_INDEX",
    "valueFrom": {"fieldRef": {"apiVersion": "v1", "fieldPath": f"metadata.labels['{INDEX}']"}},
}


def index_of(pod: Record) -> int | None:
    """A pod's number; None where it has none."""
    text = pod.shared.annotations.get(INDEX, "")
    return int(text) if text.isascii() and text.isdigit() else None


def body(record: Record, index: int | None, failures: int | None) -> bytes:
    """The JSON of a pod; `failures` are those of its index before, where the Job counts them by index."""
    tree = making.pod_tree(record, making.template_of(record))
    metadata, spec = cast(Tree, tree["metadata"]), dict(cast(Tree, tree["spec"]))
    metadata["finalizers"] = [*cast("list[str]", metadata.get("finalizers") or ()), TRACKING]
    name = record.name
    if index is not None:
        name = f"{name}-{index}"
        counted = {} if failures is None else {FAILURES: str(failures)}
        metadata["annotations"] = {**cast(Tree, metadata.get("annotations") or {}), INDEX: str(index), **counted}
        metadata["labels"] = {**cast(Tree, metadata.get("labels") or {}), INDEX: str(index)}
        spec["hostname"] = name
        for field in ("containers", "initContainers"):
            if spec.get(field):
                spec[field] = [_with_index(held) for held in cast("list[Tree]", spec[field])]
    return msgspec.json.encode({**tree, "metadata": {"generateName": f"{name}-", **metadata}, "spec": spec})


def _with_index(container: Tree) -> Tree:
    held = cast("list[Tree]", container.get("env") or [])
    if any(one.get("name") == _VARIABLE["name"] for one in held):
        return container
    return {**container, "env": [*held, _VARIABLE]}
