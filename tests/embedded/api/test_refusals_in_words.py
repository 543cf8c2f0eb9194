"""Refusals that have nothing to do with one kind, word for word those of kube-apiserver v1.37.2."""

from typing import Any, Final

import pytest

from tests.embedded.api.calling import MAPS, MERGE, PODS, Answered, Server, config_map, pod

STRATEGIC: Final = "application/strategic-merge-patch+json"
OPERATIONS: Final = "application/json-patch+json"
APPLY: Final = "application/apply-patch+yaml"
MAP: Final = "map[string]interface {}"
NO_SUCH: Final = "the server could not find the requested resource"


def patched(body: object, media_type: str, path: str = f"{MAPS}/m?fieldManager=x") -> Answered:
    server = Server()
    server.call("POST", MAPS, config_map("m"))
    return server.call("PATCH", path, body, {"content-type": media_type})


def status(code: int, reason: str, message: str, **more: Any) -> dict[str, Any]:
    head = {"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Failure", "message": message, "code": code}
    return {**head, **({"reason": reason} if reason else {}), **more}


@pytest.mark.parametrize("path", ["/nope", "/apis/nope", "/apis/nope/v1/x", "/openapi", "/openapi/v4", "/metrics/nope"])
def test_what_is_no_path_of_any_group_is_no_page(path: str) -> None:
    answer = Server().call("GET", path)

    assert (answer.code, answer.headers["content-type"]) == (404, "text/plain; charset=utf-8")
    assert answer.body == b"404 page not found\n"


@pytest.mark.parametrize("path", ["/api/v2", "/api/v2/pods", "/api/v1/nope", "/apis/apps/v2", "/apis/apps/v1/nope"])
def test_what_is_no_path_of_a_group_is_a_status_whose_details_are_empty(path: str) -> None:
    assert Server().call("GET", path).tree == status(404, "NotFound", NO_SUCH, details={})


@pytest.mark.parametrize(("method", "path"), [("PUT", MAPS), ("POST", f"{MAPS}/m"), ("POST", "/api")])
def test_a_method_that_is_not_served_is_told_with_empty_details(method: str, path: str) -> None:
    message = "the server does not allow this method on the requested resource"

    assert Server().call(method, path).tree == status(405, "MethodNotAllowed", message, details={})


@pytest.mark.parametrize(
    ("body", "media_type", "message"),
    [
        ([], MERGE["content-type"], f"error decoding patch: json: cannot unmarshal array into Go value of type {MAP}"),
        (
            b"1",
            MERGE["content-type"],
            f"error decoding patch: json: cannot unmarshal number into Go value of type {MAP}",
        ),
        (b"null", MERGE["content-type"], "Invalid JSON Patch"),
        (b"true", STRATEGIC, f"json: cannot unmarshal bool into Go value of type {MAP}"),
        (
            {},
            OPERATIONS,
            "error decoding patch: json: cannot unmarshal object into Go value of type []handlers.jsonPatchOp",
        ),
        (
            [1],
            OPERATIONS,
            "error decoding patch: json: cannot unmarshal number into Go value of type handlers.jsonPatchOp",
        ),
        ({}, APPLY, "invalid object type: /, Kind="),
        (b"", APPLY, "invalid object type: /, Kind="),
        ({"apiVersion": "v1", "kind": "Pod"}, APPLY, "invalid object type: /v1, Kind=Pod"),
        (
            b'"x"',
            APPLY,
            "error decoding patch: error unmarshaling JSON: while decoding JSON: json: cannot unmarshal string into Go "
            f"value of type {MAP}",
        ),
        (
            {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"managedFields": [{}]}},
            APPLY,
            "metadata.managedFields must be nil",
        ),
    ],
)
def test_a_patch_that_is_none_is_told_without_details(body: object, media_type: str, message: str) -> None:
    assert patched(body, media_type).tree == status(400, "BadRequest", message)


@pytest.mark.parametrize("media_type", [STRATEGIC, OPERATIONS])
def test_null_is_a_patch_that_changes_nothing(media_type: str) -> None:
    assert patched(b"null", media_type).code == 200


def test_a_patch_that_does_not_fit_says_nothing_more() -> None:
    message = "the server rejected our request due to an error in our request"
    remove = [{"op": "remove", "path": "/x"}]

    assert patched(remove, OPERATIONS).tree == status(422, "Invalid", message, details={})


def test_a_patch_of_no_known_type_is_told_with_empty_details() -> None:
    message = "415: Unsupported Media Type"

    assert patched({}, "application/json").tree == status(415, "UnsupportedMediaType", message, details={})


def test_an_apply_without_a_manager_is_refused_as_options_are() -> None:
    message = "Required value: is required for apply patch"
    cause = {"reason": "FieldValueRequired", "message": message, "field": "fieldManager"}
    details = {"group": "meta.k8s.io", "kind": "PatchOptions", "causes": [cause]}
    told = f'PatchOptions.meta.k8s.io "" is invalid: fieldManager: {message}'

    assert patched(config_map("m"), APPLY, f"{MAPS}/m").tree == status(422, "Invalid", told, details=details)


def test_a_conflict_of_managers_names_fields_and_no_object() -> None:
    server = Server()
    server.call("PATCH", f"{MAPS}/m?fieldManager=x", config_map("m", a="1"), {"content-type": APPLY})

    refused = server.call("PATCH", f"{MAPS}/m?fieldManager=y", config_map("m", a="2"), {"content-type": APPLY}).tree

    cause = {"reason": "FieldManagerConflict", "message": 'conflict with "x"', "field": ".data.a"}
    assert refused["details"] == {"causes": [cause]}


def test_a_field_that_apply_does_not_know_is_an_error_without_a_reason() -> None:
    config = {**config_map("m"), "metadata": {"name": "m", "namespace": "default"}, "foo": {}}
    message = "failed to create typed patch object (default/m; /v1, Kind=ConfigMap): .foo: field not declared in schema"

    assert patched(config, APPLY).tree == status(500, "", message)


def test_a_version_that_is_no_number_is_an_error_without_a_reason() -> None:
    sent = {"metadata": {"name": "m", "resourceVersion": "x"}}

    assert patched(sent, MERGE["content-type"]).tree == status(
        500, "", 'strconv.ParseUint: parsing "x": invalid syntax'
    )


def test_another_uid_in_a_patch_is_a_change_of_what_cannot_change() -> None:
    refused = patched({"metadata": {"uid": "x"}}, MERGE["content-type"])

    assert (refused.code, refused.message) == (
        422,
        'ConfigMap "m" is invalid: metadata.uid: Invalid value: "x": field is immutable',
    )


def test_a_delete_that_means_another_object_names_the_kind() -> None:
    server = Server()
    uid = server.call("POST", PODS, pod("p")).tree["metadata"]["uid"]

    refused = server.call("DELETE", f"{PODS}/p", {"preconditions": {"uid": "x"}}).tree

    assert refused["details"] == {"name": "p", "kind": "Pod"}
    assert refused["message"] == (
        f'Operation cannot be fulfilled on Pod "p": the UID in the precondition (x) does not match the UID in record '
        f"({uid}). The object might have been deleted and then recreated"
    )


def test_a_version_of_a_kind_that_nobody_has_is_not_registered() -> None:
    refused = Server().call("POST", MAPS, {"apiVersion": "v2", "kind": "ConfigMap"})

    assert (refused.code, refused.message) == (
        400,
        'ConfigMap in version "v2" cannot be handled as a ConfigMap: no kind "ConfigMap" is registered for version '
        '"v2" in scheme "pkg/runtime/scheme.go:111"',
    )


def test_a_time_that_is_no_number_is_refused_of_a_list_too() -> None:
    refused = Server().call("GET", f"{MAPS}?timeoutSeconds=x")

    assert refused.tree == status(400, "BadRequest", 'strconv.ParseInt: parsing "x": invalid syntax')


@pytest.mark.parametrize(
    ("path", "form", "told"),
    [
        (MAPS, "PartialObjectMetadata", "is a list (*core.ConfigMapList)"),
        ("/apis/rbac.authorization.k8s.io/v1/roles", "PartialObjectMetadata", "is a list (*rbac.RoleList)"),
        (f"{MAPS}/m", "PartialObjectMetadataList", "is not a list (*core.ConfigMap)"),
    ],
)
def test_metadata_of_one_is_no_form_of_many(path: str, form: str, told: str) -> None:
    server = Server()
    server.call("POST", MAPS, config_map("m"))

    refused = server.call("GET", path, headers={"accept": f"application/json;as={form};v=v1;g=meta.k8s.io"})

    assert refused.tree == status(406, "NotAcceptable", f"you requested {form}, but the requested object {told}")
