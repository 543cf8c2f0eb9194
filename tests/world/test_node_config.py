"""What user data has a node register with."""

import pytest

from baseload.values.taint import Taint
from baseload.world.node_config import NodeConfig, read

AGENT = Taint("node.cilium.io/agent-not-ready", "true", "NoExecute")
NODE_CONFIG = """apiVersion: node.eks.aws/v1alpha1
kind: NodeConfig
spec:
  kubelet:
    config:
      registerWithTaints:
      - {key: node.cilium.io/agent-not-ready, value: "true", effect: NoExecute}
    flags:
    - --node-labels=tier=edge,team=a
"""
MIME = f"""MIME-Version: 1.0
Content-Type: multipart/mixed; boundary="//"

--//
Content-Type: text/x-shellscript

#!/bin/bash
echo hello
--//
Content-Type: application/node.eks.aws

{NODE_CONFIG}
--//--
"""
SCRIPT = """#!/bin/bash
/etc/eks/bootstrap.sh demo --kubelet-extra-args '--node-labels=tier=edge,team=a \\
  --register-with-taints=node.cilium.io/agent-not-ready=true:NoExecute'
"""
BOTTLEROCKET = """[settings.kubernetes.node-labels]
tier = "edge"
team = "a"
[settings.kubernetes.node-taints]
"node.cilium.io/agent-not-ready" = ["true:NoExecute"]
"""


@pytest.mark.parametrize("user_data", [NODE_CONFIG, MIME, SCRIPT, BOTTLEROCKET])
def test_taints_and_labels_are_read_from_every_form_of_user_data(user_data: str) -> None:
    assert read(user_data) == NodeConfig({"tier": "edge", "team": "a"}, (AGENT,))


@pytest.mark.parametrize(
    "user_data", ["", "nonsense: [", "kind: NodeConfig\nspec: 7", "\x00", "[settings]\nkubernetes = 3"]
)
def test_user_data_that_says_nothing_of_the_node_gives_nothing(user_data: str) -> None:
    assert read(user_data) == NodeConfig()
