"""Custom resources in several versions, and definitions that change and end."""

import json
import time

from tests.kubectl.conftest import Kubectl
from tests.servers.asking import ask

GEARS = """
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: gears.example.com}
spec:
  group: example.com
  scope: Namespaced
  names: {plural: gears, singular: gear, kind: Gear, shortNames: [gr]}
  versions:
  - name: v1beta1
    served: true
    storage: false
    additionalPrinterColumns: [{name: Colour, type: string, jsonPath: .spec.colour}]
    schema:
      openAPIV3Schema:
        type: object
        properties:
          spec:
            type: object
            properties:
              size: {type: integer, description: How large it once was.}
              colour: {type: string, default: red}
  - name: v1
    served: true
    storage: true
    selectableFields: [{jsonPath: .spec.colour}]
    additionalPrinterColumns: [{name: Size, type: integer, jsonPath: .spec.size}]
    schema:
      openAPIV3Schema:
        type: object
        properties:
          spec:
            type: object
            required: [size]
            properties:
              size: {type: integer, minimum: 1, description: How large it is.}
              colour: {type: string}
"""
GEAR = """
apiVersion: example.com/v1beta1
kind: Gear
metadata: {name: one}
spec: {size: 2}
"""


def served(kubectl: Kubectl) -> None:
    kubectl("apply", "-f", "-", stdin=GEARS)
    kubectl("wait", "--for=condition=Established", "crd/gears.example.com", "--timeout=30s")
    if kubectl.server.is_real:
        published(kubectl, "example.com/v1", "example.com/v1beta1")


def published(kubectl: Kubectl, *versions: str) -> None:
    """Waits until a real server, which takes its time for it, tells of versions in discovery and OpenAPI."""
    end = time.monotonic() + 30
    wanted = {f"apis/{version}" for version in versions}
    while not (
        wanted <= ask(kubectl.server, "GET", "/openapi/v3")[1]["paths"].keys()
        and set(versions) <= set(kubectl("api-versions").split())
    ):
        assert time.monotonic() < end, "the real server does not publish the definition"


def test_an_object_applied_in_one_version_is_read_in_the_other(kubectl: Kubectl) -> None:
    served(kubectl)
    assert kubectl("apply", "-f", "-", stdin=GEAR) == "gear.example.com/one created\n"
    assert kubectl("apply", "-f", "-", stdin=GEAR) == "gear.example.com/one unchanged\n"

    assert kubectl("get", "gr").splitlines() == ["NAME   SIZE", "one    2"]
    assert kubectl("get", "gears.v1beta1.example.com").splitlines() == ["NAME   COLOUR", "one    red"]
    found = json.loads(kubectl("get", "gear", "one", "-o", "json"))
    assert (found["apiVersion"], found["spec"]) == ("example.com/v1", {"colour": "red", "size": 2})
    assert kubectl("get", "gears", "--field-selector=spec.colour=red", "-o", "name") == "gear.example.com/one\n"


def test_explain_tells_of_the_version_that_is_asked_for(kubectl: Kubectl) -> None:
    served(kubectl)

    assert "VERSION:    v1\n" in kubectl("explain", "gear.spec.size")
    assert "How large it is." in kubectl("explain", "gear.spec.size")
    assert "How large it once was." in kubectl("explain", "gear.spec.size", "--api-version=example.com/v1beta1")


def test_kubectl_tells_every_fault_of_a_custom_resource(kubectl: Kubectl) -> None:
    served(kubectl)

    wrong = GEAR.replace("v1beta1", "v1").replace("size: 2", "size: 0, colour: 5")
    head, *faults = kubectl.refused("apply", "-f", "-", stdin=wrong).splitlines()
    assert head == 'The Gear "one" is invalid: '
    assert sorted(faults) == [
        '* spec.colour: Invalid value: "integer": spec.colour in body must be of type string: "integer"',
        "* spec.size: Invalid value: 0: spec.size in body should be greater than or equal to 1",
    ]


def test_a_definition_that_is_deleted_is_gone_with_its_objects(kubectl: Kubectl) -> None:
    served(kubectl)
    kubectl("apply", "-f", "-", stdin=GEAR)

    assert kubectl("delete", "crd", "gears.example.com", "--timeout=20s").startswith(
        'customresourcedefinition.apiextensions.k8s.io "gears.example.com" deleted'
    )
    assert "could not find the requested resource" in kubectl.refused("get", "gears")


def test_autoscalers_are_described_in_the_version_that_kubectl_prefers(kubectl: Kubectl) -> None:
    spec = {"maxReplicas": 3, "scaleTargetRef": {"kind": "Deployment", "name": "web", "apiVersion": "apps/v1"}}
    tree = {"apiVersion": "autoscaling/v1", "kind": "HorizontalPodAutoscaler", "metadata": {"name": "web"}}
    kubectl("apply", "-f", "-", stdin=json.dumps({**tree, "spec": {**spec, "targetCPUUtilizationPercentage": 50}}))

    found = json.loads(kubectl("get", "hpa", "web", "-o", "json"))
    assert found["apiVersion"] == "autoscaling/v2"
    assert found["spec"]["metrics"][0]["resource"]["target"]["averageUtilization"] == 50
    assert "Deployment/web" in kubectl("get", "hpa", "web")
    assert "autoscaling/v1" in kubectl("api-versions").split()
