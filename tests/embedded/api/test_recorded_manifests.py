"""What a server says to manifests that are wrong, word for word, and that it takes those that are right.

`recorded/manifests.yaml` holds what was sent, `recorded/manifests.json` what a real server said to each.
"""

import copy
import json
import re
from collections.abc import Iterator
from functools import cache
from typing import Any

import pytest
import yaml

from tests.embedded.api.calling import Answered, Server
from tests.embedded.api.test_recorded_objects import FOLDER, TOKEN, UID, path, server

SENT: Any = yaml.safe_load((FOLDER / "manifests.yaml").read_text())
GENERATED = re.compile(r"Big-[a-z0-9]{5}")
RECORDED: Any = json.loads((FOLDER / "manifests.json").read_text())


def changed(tree: Any, changes: dict[str, Any]) -> Any:
    """An object with values at dotted paths; None takes a field away."""
    tree = copy.deepcopy(tree)
    for dotted, value in changes.items():
        *steps, last = dotted.split(".")
        held = tree
        for step in steps:
            if isinstance(held, list):
                held = held[int(step)]
            else:
                if held.get(step) is None:
                    held[step] = {}
                held = held[step]
        if isinstance(held, list):
            held[int(last)] = value
        elif value is None:
            held.pop(last, None)
        else:
            held[last] = value
    return tree


def cases(part: str) -> Iterator[Any]:
    for base, changes in SENT[part].items():
        for index, (change, answer) in enumerate(zip(changes, RECORDED[part][base], strict=True)):
            yield pytest.param(base, change, answer, id=f"{base}-{index}")


@cache
def standing() -> Server:
    """A server that nothing is stored in, for all that is only tried."""
    return server()


def plain(text: str) -> str:
    """Words without what chance decides."""
    return GENERATED.sub("Big-GIVEN", TOKEN.sub("TOKEN", UID.sub("UID", text)))


def said(answer: Answered) -> dict[str, Any]:
    """An answer as it was recorded."""
    if answer.code < 300:
        return {"code": answer.code}
    told = {"code": answer.code, "reason": answer.reason, "message": plain(answer.message)}
    causes = answer.tree.get("details", {}).get("causes", [])
    if causes:
        told["causes"] = [
            [cause.get("reason", ""), cause.get("field", ""), plain(cause.get("message", ""))] for cause in causes
        ]
    return told


def recorded(answer: dict[str, Any]) -> dict[str, Any]:
    told: dict[str, Any] = json.loads(plain(json.dumps(answer)))
    return told


def test_the_recording_is_of_a_real_server() -> None:
    assert RECORDED["origin"] == "kube-apiserver v1.37.2"


@pytest.mark.parametrize(("base", "change", "answer"), list(cases("creates")))
def test_a_new_object_is_answered_as_by_a_real_server(base: str, change: Any, answer: Any) -> None:
    tree = changed(SENT["bases"][base], change)

    assert said(standing().call("POST", f"{path(tree)}?dryRun=All", tree)) == recorded(answer)


@pytest.mark.parametrize(("base", "change", "answer"), list(cases("updates")))
def test_a_change_is_answered_as_by_a_real_server(base: str, change: Any, answer: Any) -> None:
    before, after = (change["from"], change["to"]) if "from" in change else ({}, change)
    tree = changed(SENT["bases"][base], before)
    cluster = server()
    made = cluster.call("POST", path(tree), tree)
    assert made.code == 201, made.body

    sent = changed(made.tree, after)

    assert said(cluster.call("PUT", path(tree, tree["metadata"]["name"]), sent)) == recorded(answer)
