"""Manifests as users write them."""

DEPLOYMENT = """
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, labels: {app: web}}
spec:
  replicas: 3
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec:
      containers:
      - {name: main, image: "nginx:1.25", ports: [{containerPort: 80}], resources: {requests: {cpu: 100m}}}
"""

POD = """
apiVersion: v1
kind: Pod
metadata: {name: NAME, labels: {app: NAME}}
spec: {nodeName: "NODE", containers: [{name: main, image: "nginx:1.25"}]}
"""

NODE = """
apiVersion: v1
kind: Node
metadata:
  name: NAME
  labels:
    topology.kubernetes.io/zone: eu-west-1a
    karpenter.sh/capacity-type: spot
    node.kubernetes.io/instance-type: m7g.large
status: {}
"""

NODE_POOL = """
apiVersion: karpenter.sh/v1
kind: NodePool
metadata: {name: default}
spec:
  weight: 10
  template:
    spec:
      nodeClassRef: {group: karpenter.k8s.aws, kind: EC2NodeClass, name: default}
      startupTaints: [{key: cilium, value: "true", effect: NoExecute}]
      requirements: [{key: karpenter.sh/capacity-type, operator: In, values: [spot]}]
"""

NODE_CLAIM = """
apiVersion: karpenter.sh/v1
kind: NodeClaim
metadata:
  name: default-x1
  labels:
    karpenter.sh/nodepool: default
    karpenter.sh/capacity-type: spot
    node.kubernetes.io/instance-type: m7g.large
    topology.kubernetes.io/zone: eu-west-1a
spec:
  nodeClassRef: {group: karpenter.k8s.aws, kind: EC2NodeClass, name: default}
  requirements: [{key: karpenter.sh/capacity-type, operator: In, values: [spot]}]
"""

WIDGETS = """
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: widgets.example.com}
spec:
  group: example.com
  scope: Namespaced
  names: {plural: widgets, singular: widget, kind: Widget, shortNames: [wd], categories: [all]}
  versions:
  - name: v1
    served: true
    storage: true
    subresources: {status: {}, scale: {specReplicasPath: .spec.size, statusReplicasPath: .status.size}}
    additionalPrinterColumns:
    - {name: Size, type: integer, jsonPath: .spec.size}
    - {name: Colour, type: string, jsonPath: .spec.colour}
    schema:
      openAPIV3Schema:
        type: object
        required: [spec]
        properties:
          spec:
            type: object
            description: What the widget is to be.
            required: [size]
            properties:
              size: {type: integer, minimum: 1, description: How large it is.}
              colour: {type: string, default: red}
          status: {type: object, properties: {size: {type: integer}}}
"""

WIDGET = """
apiVersion: example.com/v1
kind: Widget
metadata: {name: one}
spec: {size: 2}
"""


def pod(name: str, node: str = "") -> str:
    text = POD.replace("NAME", name)
    return text.replace("NODE", node) if node else text.replace('nodeName: "NODE", ', "")


def node(name: str) -> str:
    return NODE.replace("NAME", name)
