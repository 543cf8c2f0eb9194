"""Where a pod's volumes let it run, whether they are usable, and how many a node takes (§14)."""

import itertools

from . import algebra, selecting
from .algebra import HOSTNAME, Manifest, Requirements

IN_TREE = {
    "kubernetes.io/aws-ebs": "ebs.csi.aws.com",
    "kubernetes.io/gce-pd": "pd.csi.storage.gke.io",
    "kubernetes.io/azure-disk": "disk.csi.azure.com",
    "kubernetes.io/azure-file": "file.csi.azure.com",
    "kubernetes.io/cinder": "cinder.csi.openstack.org",
    "kubernetes.io/vsphere-volume": "csi.vsphere.vmware.com",
    "kubernetes.io/portworx-volume": "pxd.portworx.com",
}


class Missing(Exception):
    """A claim, volume or class that a pod names does not exist."""


class Volumes:
    """The storage objects of the input, looked up by name."""

    def __init__(self, objects: list[Manifest]) -> None:
        of_kind = {kind: [o for o in objects if o["kind"] == kind] for kind in {o["kind"] for o in objects}}
        self.claims = {selecting.full_name(o): o for o in of_kind.get("PersistentVolumeClaim", [])}
        self.volumes = {o["metadata"]["name"]: o for o in of_kind.get("PersistentVolume", [])}
        self.classes = {o["metadata"]["name"]: o for o in of_kind.get("StorageClass", [])}
        self.csi_nodes = {o["metadata"]["name"]: o for o in of_kind.get("CSINode", [])}

    def claim_names(self, pod: Manifest) -> list[str]:
        """§14.1."""
        namespace = pod["metadata"].get("namespace", "default")
        names = []
        for volume in pod["spec"].get("volumes") or ():
            if volume.get("persistentVolumeClaim"):
                names.append(f"{namespace}/{volume['persistentVolumeClaim']['claimName']}")
            elif volume.get("ephemeral"):
                names.append(f"{namespace}/{pod['metadata']['name']}-{volume['name']}")
        return names

    def unusable(self, pod: Manifest) -> list[str]:
        """§14.6, each fault with the claim's name."""
        return [f"{name}: {fault}" for name in self.claim_names(pod) if (fault := self.fault(name))]

    def fault(self, name: str) -> str | None:
        claim = self.claims.get(name)
        if claim is None:
            return "does not exist"
        if selecting.is_terminating(claim):
            return "is being deleted"
        if (claim.get("status") or {}).get("phase") == "Lost":
            return "is lost"
        return self.fault_bound(claim) if claim["spec"].get("volumeName") else self.fault_unbound(claim)

    def fault_bound(self, claim: Manifest) -> str | None:
        volume = self.volumes.get(claim["spec"]["volumeName"])
        if volume is None or selecting.is_terminating(volume):
            return "its volume is missing or being deleted"
        if "pv.kubernetes.io/bind-completed" not in (claim["metadata"].get("annotations") or {}):
            return "is not bound yet"
        return None

    def fault_unbound(self, claim: Manifest) -> str | None:
        storage_class = self.classes.get(claim["spec"].get("storageClassName") or "")
        if storage_class is None:
            return "has no storage class, or one that is missing"
        if (storage_class.get("volumeBindingMode") or "Immediate") == "Immediate":
            return "is unbound with immediate binding"
        return None

    def alternatives(self, pod: Manifest) -> list[Requirements]:
        """§14.4: where the volumes allow the pod, in order of trial."""
        each = [found for name in self.claim_names(pod) if (found := self.alternatives_of(name))]
        products = list(itertools.product(*each))
        meeting = [product for product in products if self.meet(product)]
        return [algebra.merged(*product) for product in meeting or products]

    def meet(self, product: tuple[Requirements, ...]) -> bool:
        whole: Requirements = {}
        for one in product:
            if not algebra.intersects(whole, one):
                return False
            whole = algebra.merged(whole, one)
        return True

    def alternatives_of(self, name: str) -> list[Requirements]:
        """§14.2, §14.3."""
        claim = self.claims.get(name)
        if claim is None:
            raise Missing(name)
        if claim["spec"].get("volumeName"):
            return self.of_volume(claim["spec"]["volumeName"])
        if claim["spec"].get("storageClassName"):
            return self.of_class(claim["spec"]["storageClassName"])
        return []

    def of_volume(self, name: str) -> list[Requirements]:
        if name not in self.volumes:
            raise Missing(name)
        spec = self.volumes[name]["spec"]
        local = bool(spec.get("local") or spec.get("hostPath"))
        required = (spec.get("nodeAffinity") or {}).get("required") or {}
        result = []
        for term in required.get("nodeSelectorTerms") or ():
            expressions = term.get("matchExpressions") or []
            kept = [e for e in expressions if not (local and e["key"] == HOSTNAME)]
            if expressions:
                result.append(algebra.from_expressions(kept))
        return result

    def of_class(self, name: str) -> list[Requirements]:
        if name not in self.classes:
            raise Missing(name)
        return [
            algebra.from_expressions({**e, "operator": "In"} for e in listed)
            for term in self.classes[name].get("allowedTopologies") or ()
            if (listed := term.get("matchLabelExpressions"))
        ]

    def attached(self, pod: Manifest) -> set[tuple[str, str]]:
        """§14.8: (driver, claim) of every volume that counts against a limit."""
        return {(driver, name) for name in self.claim_names(pod) if (driver := self.driver(name))}

    def driver(self, name: str) -> str | None:
        claim = self.claims.get(name)
        if claim is None:
            return None
        if claim["spec"].get("volumeName"):
            spec = self.volumes.get(claim["spec"]["volumeName"], {}).get("spec", {})
            if spec.get("csi"):
                return str(spec["csi"]["driver"])
            return "ebs.csi.aws.com" if spec.get("awsElasticBlockStore") else None
        storage_class = self.classes.get(claim["spec"].get("storageClassName") or "")
        provisioner = str(storage_class["provisioner"]) if storage_class else None
        return IN_TREE.get(provisioner, provisioner) if provisioner else None

    def limits(self, node: str) -> dict[str, int]:
        drivers = self.csi_nodes.get(node, {}).get("spec", {}).get("drivers") or ()
        counts = {d["name"]: (d.get("allocatable") or {}).get("count") for d in drivers}
        return {name: count for name, count in counts.items() if count is not None}
