"""kubectl edit, set, run, replace --force and the like: the commands that change what somebody has open."""

import json
from pathlib import Path

import pytest

from tests.kubectl import manifests
from tests.kubectl.conftest import Kubectl

pytestmark = pytest.mark.both_kubectls


def editor(kubectl: Kubectl, script: str) -> dict[str, str]:
    """An editor that changes a file as a script of sed says."""
    program = kubectl.home / "editor"
    program.write_text(f'#!/bin/sh\nsed -i -e "{script}" "$1"\n', encoding="ascii")
    program.chmod(0o755)
    return {"KUBE_EDITOR": str(program)}


def field(kubectl: Kubectl, of: str, path: str) -> str:
    return kubectl("get", *of.split(), "-o", f"jsonpath={{{path}}}")


def test_what_is_edited_is_patched(kubectl: Kubectl) -> None:
    kubectl("create", "-f", "-", stdin=f"{manifests.DEPLOYMENT}---{manifests.NODE_POOL}")

    deployment = kubectl.run("edit", "deployment", "web", env=editor(kubectl, "s/replicas: 3/replicas: 4/"))
    pool = kubectl.run("edit", "nodepool", "default", env=editor(kubectl, "s/weight: 10/weight: 20/"))
    nothing = kubectl.run("edit", "nodepool", "default", env=editor(kubectl, "s/none/none/"))

    assert (deployment.out, field(kubectl, "deployment web", ".spec.replicas")) == (
        "deployment.apps/web edited\n",
        "4",
    )
    assert (pool.out, field(kubectl, "nodepool default", ".spec.weight")) == (
        "nodepool.karpenter.sh/default edited\n",
        "20",
    )
    assert "Edit cancelled, no changes made." in nothing.err


def test_what_is_edited_wrongly_is_kept_for_another_try(kubectl: Kubectl) -> None:
    kubectl("create", "-f", "-", stdin=manifests.NODE_POOL)

    outcome = kubectl.run("edit", "nodepool", "default", env=editor(kubectl, "s/weight: 10$/weight: 1000/"))

    assert outcome.code == 1
    assert '# nodepools.karpenter.sh "default" was not valid:' in _kept(outcome.err)
    assert "# * spec.weight: Invalid value: 1000: spec.weight in body should be less than or equal to 100" in _kept(
        outcome.err
    )


def _kept(told: str) -> str:
    """The file that kubectl left behind."""
    return Path(told.split("stored to ")[-1].split()[0].strip('"')).read_text(encoding="utf-8")


def test_images_variables_resources_and_accounts_are_set(kubectl: Kubectl) -> None:
    kubectl("create", "-f", "-", stdin=manifests.DEPLOYMENT)

    said = [
        kubectl("set", "image", "deployment/web", "main=nginx:2"),
        kubectl("set", "env", "deployment/web", "A=1", "B=2"),
        kubectl("set", "env", "deployment/web", "A-"),
        kubectl("set", "resources", "deployment/web", "--limits=cpu=1,memory=1Gi", "--requests=cpu=100m"),
        kubectl("set", "serviceaccount", "deployment/web", "robot"),
    ]

    container = json.loads(field(kubectl, "deployment web", ".spec.template.spec.containers[0]"))
    assert said == [
        "deployment.apps/web image updated\n",
        "deployment.apps/web env updated\n",
        "deployment.apps/web env updated\n",
        "deployment.apps/web resource requirements updated\n",
        "deployment.apps/web serviceaccount updated\n",
    ]
    assert (container["image"], container["env"]) == ("nginx:2", [{"name": "B", "value": "2"}])
    assert container["resources"] == {"limits": {"cpu": "1", "memory": "1Gi"}, "requests": {"cpu": "100m"}}
    assert field(kubectl, "deployment web", ".spec.template.spec.serviceAccountName") == "robot"
    assert kubectl("set", "env", "deployment/web", "--list").splitlines()[1:] == ["B=2"]


def test_a_pod_is_run_and_exposed(kubectl: Kubectl) -> None:
    assert kubectl("run", "web", "--image=nginx", "--port=80", "--labels=app=web") == "pod/web created\n"
    assert kubectl("expose", "pod", "web", "--port=8080", "--target-port=80") == "service/web exposed\n"

    assert field(kubectl, "service web", ".spec.selector") == '{"app":"web"}'
    assert field(kubectl, "service web", ".spec.ports") == '[{"port":8080,"protocol":"TCP","targetPort":80}]'
    assert field(kubectl, "pod web", ".spec.restartPolicy") == "Always"
    assert 'pods "web" already exists' in kubectl.refused("run", "web", "--image=nginx")


def test_a_forced_replacement_is_another_object(kubectl: Kubectl) -> None:
    kubectl("create", "-f", "-", stdin=manifests.DEPLOYMENT)
    before = field(kubectl, "deployment web", ".metadata.uid")

    told = kubectl("replace", "--force", "-f", "-", stdin=manifests.DEPLOYMENT)

    assert told.splitlines()[-1] == "deployment.apps/web replaced"
    assert field(kubectl, "deployment web", ".metadata.uid") != before
    assert 'deployments.apps "other" not found' in kubectl.refused(
        "replace", "-f", "-", stdin=manifests.DEPLOYMENT.replace("name: web,", "name: other,")
    )


def test_labels_annotations_and_taints_come_and_go(kubectl: Kubectl) -> None:
    kubectl("create", "-f", "-", stdin=f"{manifests.node('n1')}---{manifests.node('n2')}")

    assert kubectl("label", "nodes", "--all", "team=a") == "node/n1 labeled\nnode/n2 labeled\n"
    assert "'team' already has a value (a), and --overwrite is false" in kubectl.refused(
        "label", "node", "n1", "team=b"
    )
    assert kubectl("label", "node", "n1", "team=b", "--overwrite") == "node/n1 labeled\n"
    assert kubectl("label", "node", "n1", "team=b", "--overwrite") == "node/n1 not labeled\n"
    assert kubectl("annotate", "node", "n1", "why=because") == "node/n1 annotated\n"
    assert kubectl("annotate", "node", "n1", "why-") == "node/n1 annotated\n"
    assert kubectl("taint", "nodes", "--all", "team=a:NoSchedule") == "node/n1 tainted\nnode/n2 tainted\n"
    assert kubectl("taint", "node", "n1", "team:NoSchedule-") == "node/n1 untainted\n"
    assert "already has team taint(s) with same effect(s)" in kubectl.refused(
        "taint", "node", "n2", "team=b:NoSchedule"
    )
    assert 'a label value "' not in kubectl.refused("label", "node", "n1", "team=not a value")
    assert field(kubectl, "node n1", ".metadata.labels.team") == "b"


def test_replicas_are_scaled_only_from_what_is_expected(kubectl: Kubectl) -> None:
    kubectl("create", "-f", "-", stdin=manifests.DEPLOYMENT)

    refusal = kubectl.refused("scale", "deployment", "web", "--replicas=1", "--current-replicas=7")

    assert "Expected replicas to be 7, was 3" in refusal
    assert (
        kubectl("scale", "deployment", "web", "--replicas=1", "--current-replicas=3") == "deployment.apps/web scaled\n"
    )
    negative = kubectl.refused(
        "patch", "deployment", "web", "--subresource=scale", "--type=merge", "-p", '{"spec":{"replicas":-1}}'
    )
    assert "spec.replicas: Invalid value: -1: must be greater than or equal to 0" in negative
