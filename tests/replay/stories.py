"""Scenarios as tests write them: a little YAML, run in this process."""

from pathlib import Path
from typing import Any

import yaml

from baseload.journal.read import read as read_journal
from baseload.journal.record import Entry
from baseload.replay import scenario
from baseload.replay.report import Report
from baseload.replay.run import Run
from tests.world.lives import Tree, node_class, within
from tests.world.lives import pool as pool

NODE_CLASS: Tree = node_class()
SPOT = within("karpenter.sh/capacity-type", "spot")
SMALL = within("node.kubernetes.io/instance-type", "m5.large", "c5.large")


def deployment(name: str, replicas: int, *, cpu: str = "500m", namespace: str = "default", **spec: Any) -> Tree:
    container = {"name": "main", "image": "nginx:1", "resources": {"requests": {"cpu": cpu, "memory": "100Mi"}}}
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": name, "namespace": namespace},
        "spec": {
            "replicas": replicas,
            "selector": {"matchLabels": {"app": name}},
            "template": {"metadata": {"labels": {"app": name}}, "spec": {"containers": [container], **spec}},
        },
    }


def node(name: str, cpu: int = 4) -> Tree:
    size = {"cpu": str(cpu), "memory": f"{4 * cpu}Gi", "pods": "110"}
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": name, "labels": {"kubernetes.io/hostname": name}},
        "spec": {"providerID": f"aws:///us-east-1a/i-{name}"},
        "status": {"capacity": size, "allocatable": size},
    }


def tree(*, name: str = "story", duration: str = "10m", **spec: Any) -> Tree:
    return {
        "apiVersion": "baseload.dev/v1alpha1",
        "kind": "Scenario",
        "metadata": {"name": name},
        "spec": {"duration": duration, **spec},
    }


def written(folder: Path, **spec: Any) -> str:
    """A scenario as a file; its path."""
    path = folder / "scenario.yaml"
    path.write_text(yaml.safe_dump(tree(**spec), sort_keys=False), encoding="utf-8")
    return str(path)


def lived(folder: Path, *, until: int | None = None, **spec: Any) -> tuple[Report, tuple[Entry, ...]]:
    """What became of a scenario, and its journal."""
    read = scenario.of_tree(tree(**spec), str(folder / "scenario.yaml"))
    path = folder / "journal"
    with path.open("w+b") as file:
        run = Run(read, journal=file, until=until, holds_invariants=True)
        try:
            report = run.run()
        finally:
            run.close()
    return report, read_journal(str(path))


def verdicts(report: Report) -> list[str]:
    return [one.judgement.verdict for one in report.judged]
