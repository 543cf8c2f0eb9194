"""Definitions in the life of a cluster: names, changes over objects that are there, and the end."""

import asyncio
import json
from typing import Any, Final

from starlette.types import Message

from baseload.embedded.api.call import Call
from baseload.embedded.api.watch import Stream
from tests.embedded.api.calling import MERGE, Server

DEFINITIONS: Final = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
TABLE: Final = {"accept": "application/json;as=Table;v=v1;g=meta.k8s.io"}
SCHEMA: Final = {
    "type": "object",
    "properties": {
        "spec": {"type": "object", "properties": {"a": {"type": "string"}, "n": {"type": "integer"}}},
        "status": {"type": "object", "properties": {"n": {"type": "integer"}}},
    },
}


def version(name: str = "v1", **more: Any) -> dict[str, Any]:
    return {"name": name, "served": True, "storage": True, "schema": {"openAPIV3Schema": SCHEMA}, **more}


def definition(plural: str, *versions: dict[str, Any], **names: Any) -> dict[str, Any]:
    spec = {
        "group": "example.com",
        "scope": "Namespaced",
        "names": {"plural": plural, "kind": plural.capitalize(), **names},
        "versions": list(versions) or [version()],
    }
    name = f"{plural}.example.com"
    api = {"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition"}
    return {**api, "metadata": {"name": name}, "spec": spec}


def path(plural: str, name: str = "", version: str = "v1") -> str:
    return f"/apis/example.com/{version}/namespaces/default/{plural}" + (f"/{name}" if name else "")


def made(server: Server, plural: str, *versions: dict[str, Any], **names: Any) -> None:
    answer = server.call("POST", DEFINITIONS, definition(plural, *versions, **names))
    assert answer.code == 201, answer.body


def changed(server: Server, plural: str, **spec: Any) -> None:
    answer = server.call("PATCH", f"{DEFINITIONS}/{plural}.example.com", {"spec": spec}, MERGE)
    assert answer.code == 200, answer.body


def conditions(server: Server, plural: str) -> dict[str, tuple[str, str, str]]:
    status = server.call("GET", f"{DEFINITIONS}/{plural}.example.com").tree["status"]
    return {it["type"]: (it["status"], it["reason"], it["message"]) for it in status["conditions"]}


def thing(plural: str, name: str = "x", **more: Any) -> dict[str, Any]:
    return {"apiVersion": "example.com/v1", "kind": plural.capitalize(), "metadata": {"name": name, **more}}


def test_a_definition_is_accepted_with_the_names_that_follow_from_its_kind() -> None:
    server = Server()
    made(server, "ones", shortNames=["on"])

    tree = server.call("GET", f"{DEFINITIONS}/ones.example.com").tree
    names = {"plural": "ones", "singular": "ones", "kind": "Ones", "listKind": "OnesList", "shortNames": ["on"]}
    assert (tree["spec"]["names"], tree["status"]["acceptedNames"]) == (names, names)
    assert tree["spec"]["conversion"] == {"strategy": "None"}
    assert tree["status"]["storedVersions"] == ["v1"]
    assert conditions(server, "ones") == {
        "NamesAccepted": ("True", "NoConflicts", "no conflicts found"),
        "Established": ("True", "InitialNamesAccepted", "the initial names have been accepted"),
    }


def test_a_name_that_is_taken_keeps_a_definition_from_being_served_until_it_is_free() -> None:
    server = Server()
    made(server, "ones", shortNames=["on"])
    made(server, "twos", shortNames=["on"])

    assert conditions(server, "twos") == {
        "NamesAccepted": ("False", "ShortNamesConflict", '"on" is already in use'),
        "Established": ("False", "NotAccepted", "not all names are accepted"),
    }
    assert server.call("GET", path("twos")).code == 404
    changed(server, "ones", names={"shortNames": ["other"]})
    assert conditions(server, "twos")["Established"][0] == "True"
    assert server.call("GET", path("twos")).code == 200


def test_a_definition_that_is_served_keeps_its_names_where_new_ones_are_taken() -> None:
    server = Server()
    made(server, "ones", shortNames=["on"])
    made(server, "twos", shortNames=["tw"])
    changed(server, "twos", names={"shortNames": ["on"]})

    assert conditions(server, "twos")["NamesAccepted"] == ("False", "ShortNamesConflict", '"on" is already in use')
    rows = server.call("GET", "/apis/example.com/v1").tree["resources"]
    assert {row["name"]: row.get("shortNames") for row in rows} == {"ones": ["on"], "twos": ["tw"]}


def test_columns_short_names_and_subresources_change_over_objects_that_are_there() -> None:
    server = Server()
    made(server, "ones")
    server.call("POST", path("ones"), {**thing("ones"), "spec": {"n": 2}, "status": {"n": 1}})
    assert server.call("GET", path("ones", "x") + "/status").code == 404
    assert server.call("PATCH", path("ones", "x"), {"status": {"n": 3}}, MERGE).tree["status"] == {"n": 3}

    column = {"name": "Number", "type": "integer", "jsonPath": ".spec.n"}
    scale = {"specReplicasPath": ".spec.n", "statusReplicasPath": ".status.n"}
    changed(
        server,
        "ones",
        names={"shortNames": ["on"]},
        versions=[version(subresources={"status": {}, "scale": scale}, additionalPrinterColumns=[column])],
    )

    table = server.call("GET", path("ones"), headers=TABLE).tree
    assert [told["name"] for told in table["columnDefinitions"]] == ["Name", "Number"]
    assert table["rows"][0]["cells"] == ["x", 2]
    assert server.call("PATCH", path("ones", "x"), {"status": {"n": 9}}, MERGE).tree["status"] == {"n": 3}
    assert server.call("PATCH", path("ones", "x") + "/status", {"status": {"n": 9}}, MERGE).tree["status"] == {"n": 9}
    assert server.call("GET", path("ones", "x") + "/scale").tree["spec"] == {"replicas": 2}


def test_what_was_stored_before_is_shown_with_todays_defaults_and_fields() -> None:
    server = Server()
    made(server, "ones")
    server.call("POST", path("ones"), {**thing("ones"), "spec": {"a": "kept", "n": 2}})

    newer = {"a": {"type": "string"}, "b": {"type": "string", "default": "new"}}
    schema = {"type": "object", "properties": {"spec": {"type": "object", "properties": newer}}}
    changed(server, "ones", versions=[version(schema={"openAPIV3Schema": schema})])

    assert server.call("GET", path("ones", "x")).tree["spec"] == {"a": "kept", "b": "new"}
    assert server.call("GET", path("ones")).tree["items"][0]["spec"] == {"a": "kept", "b": "new"}


def test_every_version_that_objects_were_stored_in_is_remembered() -> None:
    server = Server()
    made(server, "ones")
    both = [version(storage=False), version("v2")]
    changed(server, "ones", versions=both)
    name = f"{DEFINITIONS}/ones.example.com"
    assert server.call("GET", name).tree["status"]["storedVersions"] == ["v1", "v2"]

    refused = server.call("PATCH", name, {"spec": {"versions": [version("v2")]}}, MERGE)
    assert refused.message.startswith(
        'CustomResourceDefinition.apiextensions.k8s.io "ones.example.com" is invalid: '
        'status.storedVersions[0]: Invalid value: "v1": missing from spec.versions'
    )
    assert server.call("PATCH", f"{name}/status", {"status": {"storedVersions": ["v2"]}}, MERGE).code == 200
    changed(server, "ones", versions=[version("v2")])
    assert server.call("GET", path("ones")).code == 404
    assert server.call("GET", path("ones", version="v2")).code == 200


def test_a_definition_takes_its_objects_along_and_waits_for_their_finalizers() -> None:
    server = Server()
    made(server, "ones")
    server.call("POST", path("ones"), thing("ones", "free"))
    server.call("POST", path("ones"), thing("ones", "held", finalizers=["example.com/wait"]))

    server.call("DELETE", f"{DEFINITIONS}/ones.example.com")

    tree = server.call("GET", f"{DEFINITIONS}/ones.example.com").tree
    assert tree["metadata"]["finalizers"] == ["customresourcecleanup.apiextensions.k8s.io"]
    assert conditions(server, "ones")["Terminating"] == (
        "True",
        "InstanceDeletionInProgress",
        "CustomResource deletion is in progress",
    )
    assert [item["metadata"]["name"] for item in server.call("GET", path("ones")).tree["items"]] == ["held"]
    refused = server.call("POST", path("ones"), thing("ones", "late"))
    assert (refused.code, refused.message) == (
        403,
        'ones.example.com "late" is forbidden: create not allowed while custom resource definition is terminating',
    )

    server.call("PATCH", path("ones", "held"), {"metadata": {"finalizers": None}}, MERGE)
    assert server.call("GET", f"{DEFINITIONS}/ones.example.com").code == 404
    assert server.call("GET", path("ones", "held")).code == 404


def test_a_collection_of_definitions_goes_with_all_objects() -> None:
    server = Server()
    made(server, "ones")
    server.call("POST", path("ones"), thing("ones"))

    server.call("DELETE", DEFINITIONS)

    assert server.call("GET", DEFINITIONS).tree["items"] == []
    assert server.call("GET", "/apis/example.com").code == 404


def test_all_faults_of_a_definition_are_told_at_once() -> None:
    server = Server()
    tree = definition("ones", version(schema={"openAPIV3Schema": {"type": "object", "properties": {"a": {}}}}))
    tree["spec"]["scope"] = "Weird"

    refused = server.call("POST", DEFINITIONS, tree)

    assert (refused.code, refused.reason) == (422, "Invalid")
    assert [(cause["reason"], cause["field"]) for cause in refused.tree["details"]["causes"]] == [
        ("FieldValueNotSupported", "spec.scope"),
        ("FieldValueRequired", "spec.validation.openAPIV3Schema.properties[a].type"),
    ]
    assert server.call("GET", DEFINITIONS).tree["items"] == []


def test_a_watch_ends_when_its_definition_changes_or_goes() -> None:
    server = Server()
    made(server, "ones")
    assert server.call("POST", path("ones"), thing("ones")).code == 201

    changing = watching(server, "ones")
    changed(server, "ones", versions=[version(storage=False), version("v2")])
    assert server.call("PATCH", path("ones", "x"), {"metadata": {"labels": {"a": "b"}}}, MERGE).code == 200
    assert said_until_its_end(changing) == []

    going = watching(server, "ones")
    relabelled = server.call("PATCH", f"{DEFINITIONS}/ones.example.com", {"metadata": {"labels": {"a": "b"}}}, MERGE)
    assert relabelled.code == 200
    assert server.call("DELETE", f"{DEFINITIONS}/ones.example.com").code == 200
    server.cluster.store.tidy()
    assert [(it["type"], it["object"]["apiVersion"]) for it in said_until_its_end(going)] == [
        ("DELETED", "example.com/v1")
    ]


def test_an_update_of_a_custom_resource_says_on_which_state_it_is_based() -> None:
    server = Server()
    made(server, "ones")
    version = server.call("POST", path("ones"), thing("ones")).tree["metadata"]["resourceVersion"]

    blind = server.call("PUT", path("ones", "x"), thing("ones", labels={"a": "b"}))
    why = "metadata.resourceVersion: Invalid value: 0: must be specified for an update"
    told = f'ones.example.com "x" is invalid: {why}'
    assert (blind.code, blind.reason, blind.message) == (422, "Invalid", told)
    assert blind.tree["details"]["kind"] == "ones"
    based = thing("ones", labels={"a": "b"}, resourceVersion=version)
    assert server.call("PUT", path("ones", "x"), based).code == 200
    late = server.call("PUT", path("ones", "x"), {**based, "spec": {"a": "b"}})
    assert (late.code, late.reason) == (409, "Conflict")

    budgets = "/apis/policy/v1/namespaces/default/poddisruptionbudgets"
    budget = {"metadata": {"name": "b"}, "spec": {"minAvailable": 1, "selector": {}}}
    assert server.call("POST", budgets, budget).code == 201
    blind = server.call("PUT", f"{budgets}/b", budget)
    assert (blind.code, blind.message) == (422, f'poddisruptionbudgets.policy "b" is invalid: {why}')


def test_a_custom_resource_says_what_it_is() -> None:
    server = Server()
    made(server, "ones")

    nameless = server.call("POST", path("ones"), b'{"metadata":{"name":"x"}}')
    told = "the object provided is unrecognized (must be of type Ones): Object 'Kind' is missing in "
    body = '{"metadata":{"name":"x"}}'
    assert (nameless.code, nameless.message) == (400, f"{told}'{body}' ({body})")
    unversioned = server.call("POST", path("ones"), {"kind": "Ones", "metadata": {"name": "x"}})
    told = "the API version in the data () does not match the expected API version (example.com/v1)"
    assert (unversioned.code, unversioned.reason, unversioned.message) == (400, "BadRequest", told)


def watching(server: Server, plural: str) -> Stream:
    """A watch that is opened now; who reads it comes later."""
    now = server.cluster.store.version
    steps = ["apis", "example.com", "v1", "namespaces", "default", plural]
    opened = server.api.answer(steps, Call("GET", {"watch": "true", "resourceVersion": str(now)}))
    assert isinstance(opened, Stream)
    return opened


def said_until_its_end(watch: Stream) -> list[dict[str, Any]]:
    """The events of a watch that ends without its client leaving."""
    pieces: list[bytes] = []

    async def send(message: Message) -> None:
        pieces.append(message.get("body", b""))

    async def receive() -> Message:
        await asyncio.Event().wait()
        raise AssertionError

    asyncio.run(asyncio.wait_for(watch({"type": "http"}, receive, send), 5))
    return [json.loads(line) for line in b"".join(pieces).splitlines()]
