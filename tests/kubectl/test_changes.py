"""The commands that change an object that is there."""

import json

from tests.kubectl import manifests
from tests.kubectl.conftest import Kubectl


def field(kubectl: Kubectl, of: str, path: str) -> str:
    return kubectl("get", *of.split(), "-o", f"jsonpath={{{path}}}")


def test_each_kind_of_patch_changes_what_it_says(kubectl: Kubectl) -> None:
    kubectl("create", "-f", "-", stdin=manifests.DEPLOYMENT)
    second = json.dumps({"spec": {"template": {"spec": {"containers": [{"name": "side", "image": "envoy:1"}]}}}})
    operations = json.dumps([{"op": "replace", "path": "/spec/replicas", "value": 7}])

    kubectl("patch", "deployment", "web", "-p", second)
    assert field(kubectl, "deployment web", ".spec.template.spec.containers[*].name") == "side main"
    kubectl("patch", "deployment", "web", "--type=json", "-p", operations)
    assert field(kubectl, "deployment web", ".spec.replicas") == "7"
    kubectl("patch", "deployment", "web", "--type=merge", "-p", second)
    assert field(kubectl, "deployment web", ".spec.template.spec.containers[*].name") == "side"


def test_a_patch_that_does_not_fit_is_refused(kubectl: Kubectl) -> None:
    kubectl("create", "-f", "-", stdin=manifests.DEPLOYMENT)
    kubectl("create", "-f", "-", stdin=manifests.NODE_POOL)
    absent = json.dumps([{"op": "remove", "path": "/spec/absent"}])

    refusal = kubectl.refused("patch", "deployment", "web", "--type=json", "-p", absent)
    strategic = kubectl.refused("patch", "nodepool", "default", "--type=strategic", "-p", '{"spec":{"weight":1}}')

    assert refusal == "The request is invalid: the server rejected our request due to an error in our request\n"
    assert "the body of the request was in an unknown format" in strategic


def test_who_sends_too_much_reads_why_it_is_refused(kubectl: Kubectl) -> None:
    file = kubectl.home / "large.json"
    file.write_text(" " * 30_000_000, encoding="ascii")

    refusal = kubectl.refused("create", "--raw", "/api/v1/namespaces/default/configmaps", "-f", str(file))

    assert "Request entity too large: limit is 3145728" in refusal


def test_labels_annotations_and_scale(kubectl: Kubectl) -> None:
    kubectl("create", "-f", "-", stdin=manifests.DEPLOYMENT)

    assert kubectl("label", "deployment", "web", "tier=front") == "deployment.apps/web labeled\n"
    assert kubectl("annotate", "deployment", "web", "why=because") == "deployment.apps/web annotated\n"
    assert kubectl("scale", "deployment", "web", "--replicas=9") == "deployment.apps/web scaled\n"
    assert kubectl("label", "deployment", "web", "tier-") == "deployment.apps/web unlabeled\n"
    assert field(kubectl, "deployment web", ".spec.replicas") == "9"
    assert field(kubectl, "deployment web", ".metadata.annotations.why") == "because"
    assert field(kubectl, "deployment web", ".metadata.generation") == "3"  # the annotation counts
    assert "deployments.apps" in kubectl.refused("scale", "deployment", "absent", "--replicas=1")


def test_nodes_are_cordoned_and_tainted(kubectl: Kubectl) -> None:
    kubectl("create", "-f", "-", stdin=manifests.node("n1"))

    assert kubectl("cordon", "n1") == "node/n1 cordoned\n"
    assert "SchedulingDisabled" in kubectl("get", "node", "n1")
    assert kubectl("taint", "node", "n1", "team=a:NoSchedule") == "node/n1 tainted\n"
    assert kubectl("uncordon", "n1") == "node/n1 uncordoned\n"
    assert (
        field(kubectl, "node n1", '.spec.taints[?(@.key=="team")]')
        == '{"effect":"NoSchedule","key":"team","value":"a"}'
    )
    assert field(kubectl, "node n1", ".spec.unschedulable") == ""


def test_replace_needs_the_version_that_was_read(kubectl: Kubectl) -> None:
    kubectl("create", "-f", "-", stdin=manifests.DEPLOYMENT)
    read = kubectl("get", "deployment", "web", "-o", "json")
    kubectl("scale", "deployment", "web", "--replicas=9")

    assert "the object has been modified" in kubectl.refused("replace", "-f", "-", stdin=read)
    assert kubectl("replace", "-f", "-", stdin=manifests.DEPLOYMENT) == "deployment.apps/web replaced\n"


def test_images_are_set_and_services_exposed(kubectl: Kubectl) -> None:
    kubectl("create", "-f", "-", stdin=manifests.DEPLOYMENT)

    assert kubectl("set", "image", "deployment/web", "main=nginx:2") == "deployment.apps/web image updated\n"
    assert kubectl("expose", "deployment", "web", "--port=80") == "service/web exposed\n"
    assert kubectl("run", "box", "--image=busybox") == "pod/box created\n"
    assert field(kubectl, "service web", ".spec.ports[0].targetPort") == "80"
    assert field(kubectl, "pod box", ".spec.containers[0].imagePullPolicy") == "Always"


def test_objects_and_names_that_break_a_rule_are_refused(kubectl: Kubectl) -> None:
    kubectl("create", "-f", "-", stdin=manifests.pod("p1"))

    assert kubectl.refused("create", "-f", "-", stdin=manifests.pod("p1")) == (
        'Error from server (AlreadyExists): error when creating "STDIN": pods "p1" already exists\n'
    )
    refusal = kubectl.refused("create", "-f", "-", stdin=manifests.pod("Not_A_Name"))
    assert refusal.startswith('The Pod "Not_A_Name" is invalid: metadata.name: Invalid value: "Not_A_Name": a lower')
    astray = kubectl.refused("create", "-n", "absent", "-f", "-", stdin=manifests.pod("p2"))
    assert 'namespaces "absent" not found' in astray
