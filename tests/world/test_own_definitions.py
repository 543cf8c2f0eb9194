"""The definitions that the program brings along, in a data directory of an earlier version of it."""

from pathlib import Path
from typing import Any, Final

import msgspec
import pytest

from baseload.embedded.store.record import Json, Record
from baseload.kube.schema import definitions
from baseload.world import embedded
from tests.embedded.clock import Standing

NAME: Final = "nodepools.karpenter.sh"


def stored(folder: Path) -> Record:
    world = embedded.build(folder, None, clock=Standing())
    try:
        resource = world.cluster.store.resource_of("apiextensions.k8s.io", "CustomResourceDefinition")
        assert resource is not None
        return world.cluster.store.get(resource, "", NAME)
    finally:
        world.close()


def short_names(record: Record) -> Json:
    tree: Any = record.body.tree()
    told: Json = tree["spec"]["names"].get("shortNames")
    return told


def test_a_definition_that_nobody_changed_follows_the_program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert short_names(stored(tmp_path)) is None

    crds = [{**crd, "shortNames": ["np"]} if crd["plural"] == "nodepools" else crd for crd in definitions.custom()]
    monkeypatch.setattr(definitions, "custom", lambda: crds)
    renewed = stored(tmp_path)

    assert short_names(renewed) == ["np"]
    assert b'"shortNames":["np"]' in msgspec.json.encode(msgspec.json.decode(renewed.status)["acceptedNames"])  # type: ignore[arg-type]
    assert stored(tmp_path).version == renewed.version, "it is renewed once"


def test_a_definition_that_somebody_changed_is_left_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    world = embedded.build(tmp_path, None, clock=Standing())
    resource = world.cluster.store.resource_of("apiextensions.k8s.io", "CustomResourceDefinition")
    assert resource is not None
    record = world.cluster.store.get(resource, "", NAME)
    changed = record.with_body(
        type(record.body)(record.body.raw.replace(b'"singular":"nodepool"', b'"singular":"pool"'))
    )
    world.cluster.written(world.cluster.store.change(resource, "", NAME, lambda _: changed))
    world.cluster.store.commit()
    world.close()

    crds = [{**crd, "shortNames": ["np"]} if crd["plural"] == "nodepools" else crd for crd in definitions.custom()]
    monkeypatch.setattr(definitions, "custom", lambda: crds)

    tree: Any = stored(tmp_path).body.tree()
    assert tree["spec"]["names"]["singular"] == "pool"
    assert "shortNames" not in tree["spec"]["names"]
