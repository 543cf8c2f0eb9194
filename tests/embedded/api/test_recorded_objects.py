"""What becomes of an object that is created: every default and what admission adds, as a real server did it.

`recorded/objects.yaml` holds what was sent, `recorded/objects.json` what came back.
"""

import json
import re
from pathlib import Path
from typing import Any

import pytest
import yaml

from baseload.kube import kinds
from baseload.kube.protobuf import shapes, table
from tests.embedded.api.calling import Server

FOLDER = Path(__file__).parent / "recorded"
SENT: list[Any] = list(yaml.safe_load_all((FOLDER / "objects.yaml").read_text()))
RECORDED = json.loads((FOLDER / "objects.json").read_text())
NAMESPACE = "rules"
GIVEN = ("uid", "resourceVersion", "creationTimestamp", "managedFields")
TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z")
UID = re.compile(r"[0-9a-f]{8}-([0-9a-f]{4}-){3}[0-9a-f]{12}")
TOKEN = re.compile(r"kube-api-access-[a-z0-9]{5}")


EMPTY = {"string": "", "bytes": "", "bool": False}
# What is not the same as nothing to a real server: that the fields are there at all.
TOLD_APART = (
    ("core.v1.PodSpec", "overhead"),
    ("core.v1.ResourceRequirements", "claims"),
    ("autoscaling.v2.HPAScalingRules", "policies"),
)


def filled(message: str, tree: Any) -> Any:
    """An object in which every field that Go leaves out when it is empty stands, empty."""
    told = dict(tree)
    for row in table.fields(message):
        is_whole = row.type in table.SCALARS or row.type in shapes.SHAPES
        held = told.get(row.name)
        if row.absent == "inline":
            told = filled(row.type, told)
        elif row.name not in told and row.absent == "omitted" and "Time" not in row.type:
            if (message, row.name) not in TOLD_APART:
                told[row.name] = [] if row.often == "list" else {} if row.often else EMPTY.get(row.type, 0)
        elif row.often == "list" and held and not is_whole:
            told[row.name] = [filled(row.type, one) for one in held]
        elif isinstance(held, dict) and not row.often and not is_whole:
            told[row.name] = filled(row.type, held)
    return told


def path(tree: Any, name: str = "") -> str:
    """Where an object is created, or is found by its name."""
    kind = kinds.find(tree["apiVersion"], tree["kind"])
    assert kind is not None
    root = "/apis" if kind.group else "/api"
    within = f"/namespaces/{NAMESPACE}" if kind.namespaced else ""
    return f"{root}/{kind.api_version}{within}/{kind.plural}" + (f"/{name}" if name else "")


def server() -> Server:
    made = Server()
    made.call("POST", "/api/v1/namespaces", {"metadata": {"name": NAMESPACE}})
    return made


def told(tree: Any) -> Any:
    """An object without what chance and the clock decide."""
    text = json.dumps(tree)
    for pattern, name in ((TIME, "TIME"), (UID, "UID"), (TOKEN, "TOKEN")):
        text = pattern.sub(name, text)
    plain = json.loads(text)
    plain["metadata"] = {key: value for key, value in plain["metadata"].items() if key not in GIVEN}
    return plain


def test_the_recording_is_of_a_real_server() -> None:
    assert RECORDED["origin"] == "kube-apiserver v1.37.2"
    assert len(RECORDED["objects"]) == len(SENT)


@pytest.mark.parametrize(
    ("sent", "recorded"),
    list(zip(SENT, RECORDED["objects"], strict=True)),
    ids=[f"{tree['kind']}-{tree['metadata']['name']}" for tree in SENT],
)
def test_an_object_comes_back_as_a_real_server_gives_it(sent: Any, recorded: Any) -> None:
    assert told(created(sent)) == told(recorded)


@pytest.mark.parametrize(
    ("sent", "recorded"),
    list(zip(SENT, RECORDED["objects"], strict=True)),
    ids=[f"{tree['kind']}-{tree['metadata']['name']}" for tree in SENT],
)
def test_empty_fields_make_no_difference_to_an_object(sent: Any, recorded: Any) -> None:
    message = table.message_of(sent["apiVersion"], sent["kind"])
    assert message is not None

    assert told(created(filled(message, sent))) == told(recorded)


def created(sent: Any) -> Any:
    cluster = server()
    if sent["kind"] == "Pod" and sent["spec"].get("priorityClassName"):
        critical = {"metadata": {"name": sent["spec"]["priorityClassName"]}, "value": 2_000_001_000}
        cluster.call("POST", "/apis/scheduling.k8s.io/v1/priorityclasses", critical)

    answer = cluster.call("POST", path(sent), sent)

    assert answer.code == 201, answer.body
    return answer.tree
