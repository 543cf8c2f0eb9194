"""Nodes and pods whose statuses hold nulls, as Go writes times that nobody set, are read like any others."""

from baseload.embedded.actors import nodes
from baseload.embedded.store.record import encode
from tests.embedded.actors.acting import Stage, node


def test_a_node_whose_condition_has_no_times_is_as_large_as_it_says() -> None:
    stage = Stage()
    tree = node("floor", cpu="2")
    tree["status"]["conditions"] = [{"type": "Ready", "status": "True"}]
    held = stage.create(tree)
    assert b"null" in encode(held)
    assert nodes.status(held).allocatable["cpu"] == "2"
    assert nodes.ready(held) == "True"
