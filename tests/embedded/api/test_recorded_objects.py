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
from tests.embedded.api.calling import Server

FOLDER = Path(__file__).parent / "recorded"
SENT: list[Any] = list(yaml.safe_load_all((FOLDER / "objects.yaml").read_text()))
RECORDED = json.loads((FOLDER / "objects.json").read_text())
NAMESPACE = "rules"
GIVEN = ("uid", "resourceVersion", "creationTimestamp", "managedFields")
TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z")
UID = re.compile(r"[0-9a-f]{8}-([0-9a-f]{4}-){3}[0-9a-f]{12}")
TOKEN = re.compile(r"kube-api-access-[a-z0-9]{5}")


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
    plain = {key: value for key, value in json.loads(text).items() if value is not None}  # an event's eventTime
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
    cluster = server()
    if sent["kind"] == "Pod" and sent["spec"].get("priorityClassName"):
        critical = {"metadata": {"name": sent["spec"]["priorityClassName"]}, "value": 2_000_001_000}
        cluster.call("POST", "/apis/scheduling.k8s.io/v1/priorityclasses", critical)

    answer = cluster.call("POST", path(sent), sent)

    assert answer.code == 201, answer.body
    assert told(answer.tree) == told(recorded)
