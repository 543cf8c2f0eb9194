"""The controllers of a scenario: which there are, where they live, and what is set of them.

Karpenter's options are those of the file that `baseload plan --options` takes. All others live outside of the cluster,
as a managed control plane does.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from dataclasses import fields as fields_of
from typing import Any, Final

from baseload.cloud.simulated import forms
from baseload.cloud.simulated.forms import Form, Tree
from baseload.control.settings import Settings as KarpenterSettings
from baseload.decide.node.pressure import PressureSettings
from baseload.decide.schedule.profile import Profile, Weights
from baseload.embedded.actors.cni import CniSettings
from baseload.embedded.actors.kubelet.settings import KubeletSettings
from baseload.embedded.actors.scheduler.settings import Settings as SchedulerSettings
from baseload.replay import fields
from baseload.replay.fields import Field, about
from baseload.values import quantity, selector
from baseload.values.errors import BadInput
from baseload.values.instant import SECOND
from baseload.world import life_settings, options
from baseload.world.living import PROCESSES, Hosting, LifeSettings

_WHOLE: Final = fields.whole(0, 10_000)
SCHEDULER: Final[Mapping[str, Field]] = {
    "scoringStrategy": about(
        fields.one_of("LeastAllocated", "MostAllocated"), "NodeResourcesFit's; `LeastAllocated` where nothing is said"
    ),
    "weights": about(fields.MAP, "score -> weight, e.g. `{podTopologySpread: 2}`"),
    "percentageOfNodesToScore": about(fields.whole(0, 100), "0: the larger the cluster, the smaller the part"),
    "hardPodAffinityWeight": about(fields.whole(0, 100), "1"),
    "bindTimeout": about(fields.LENGTH, "how long volumes may take to be bound; 10m"),
    "cycle": about(fields.SPAN, "how long the scheduler takes for one pod; 10ms"),
}
KUBELET: Final[Mapping[str, Field]] = {
    "seesAfter": about(fields.SPAN, "from a binding until the pod is admitted; 50ms"),
    "longestRestartDelay": about(fields.LENGTH, "of CrashLoopBackOff; 5m"),
    "tellsNormalEvents": about(fields.BOOLEAN, "whether Pulled, Created, Started and Killing are told; true"),
    "pressure": about(fields.MAP, "machines that are short of memory; the settings are in docs/kubelet.md"),
}
CNI: Final[Mapping[str, Field]] = {
    "model": about(fields.one_of("works", "none", "foreign"), "what a new node finds; `works`"),
    "agents": about(fields.TEXT, "a label selector of the agents' pods; `k8s-app=cilium`"),
    "taint": about(fields.TEXT, "the key of the taint that the agent removes; `node.cilium.io/agent-not-ready`"),
    "setsUpIn": about(fields.SPAN, "from the agent's pod being Ready until the network works; 5s"),
}
KARPENTER: Final[Mapping[str, Field]] = {
    "clusterName": about(fields.TEXT, "`baseload`"),
    "interruptionQueue": about(fields.BOOLEAN, "whether the queue of interruptions is followed; true"),
    "workers": about(fields.whole(1, 1000), "claims and nodes that are worked on at a time; 10"),
}
LIFECYCLE: Final[Mapping[str, Field]] = {
    "evictsOneLookLater": about(
        fields.BOOLEAN, "whether a silent node's pods are evicted one look, 5s, after it was found silent; true"
    ),
}
NAMES: Final[Mapping[str, str]] = {
    "karpenter": "Karpenter's controllers of nodes",
    "scheduler": "kube-scheduler",
    "kubelet": "the nodes' kubelets",
    "node-lifecycle": "kube-controller-manager's controller of nodes that are not heard of",
    "cni": "the network agent",
    "controller-manager": "kube-controller-manager's controllers of workloads, their pods and budgets",
    "storage": "those who make volumes and attach them",
    "cloud-controller-manager": "who deletes the Nodes of machines that are gone",
}
HOSTED: Final = PROCESSES
"""Those that may live in a pod"""


@dataclass(slots=True)
class Chosen:
    """What a scenario says of its controllers, as far as it has been read."""

    karpenter: KarpenterSettings | None = field(default_factory=KarpenterSettings)
    scheduler: SchedulerSettings = field(default_factory=SchedulerSettings)
    kubelet: KubeletSettings = field(default_factory=lambda: KubeletSettings(adopts_nodes=True))
    evicts_one_look_later: bool = True
    network: Any = "works"
    cni: CniSettings = field(default_factory=CniSettings)
    hosts: dict[str, Hosting] = field(default_factory=dict)
    vm_memory_overhead_percent: str = "0.075"
    reserved_enis: int = 0

    def applied(self, life: LifeSettings) -> LifeSettings:
        return replace(
            life,
            karpenter=self.karpenter,
            scheduler=self.scheduler,
            kubelet=self.kubelet,
            evicts_one_look_later=self.evicts_one_look_later,
            network=self.network,
            cni=self.cni,
            hosts=self.hosts,
            vm_memory_overhead_percent=self.vm_memory_overhead_percent,
            reserved_enis=self.reserved_enis,
        )


def read(trees: Iterator[Tree], file: str) -> Chosen:
    """The controllers of a list of maps."""
    chosen, seen = Chosen(), set[str]()
    for tree in trees:
        name = tree.required("name", fields.one_of(*NAMES).form, None)
        enabled = tree.value("enabled", forms.BOOLEAN, True)
        if name is None:
            tree.pass_over()
            continue
        if name in seen:
            tree.note("name", f"Duplicate value: {name}")
        seen.add(name)
        _host(tree, name, chosen)
        _READERS.get(name, _plain)(tree, chosen, file)
        if not enabled:
            if name == "karpenter":
                chosen.karpenter = None
            else:
                tree.note("enabled", f"{name} is always there", "of karpenter alone")
    return chosen


def _host(tree: Tree, name: str, chosen: Chosen) -> None:
    if not tree.says("hostedBy"):
        tree.value("hostedBy", fields.MAP.form, None)
        return
    below = tree.map("hostedBy")
    namespace = below.value("namespace", forms.TEXT, "default")
    labels = below.required("selector", forms.TEXT, "")
    below.done()
    if name not in HOSTED:
        tree.note("hostedBy", f"{name} lives outside of the cluster", f"of {', '.join(HOSTED)} alone")
    try:
        selector.parse(labels)
    except ValueError as error:
        below.note("selector", str(error), "a label selector, e.g. app=karpenter")
        return
    chosen.hosts[name] = Hosting(namespace, labels)


def _karpenter(tree: Tree, chosen: Chosen, file: str) -> None:
    given: Mapping[str, object] = tree.value("options", fields.MAP.form, {})
    own = {name: value for name, value in given.items() if name in KARPENTER}
    try:
        read_ = options.of_tree({name: value for name, value in given.items() if name not in own}, file)
    except BadInput as error:
        for fault in error.faults:
            tree.note(f"options.{fault.path}" if fault.path else "options", fault.message, fault.allowed)
        return
    found = fields.read(tree.below("options", own), KARPENTER)
    life = life_settings.with_options(LifeSettings(), read_)
    assert life.karpenter is not None
    usual = life.karpenter
    chosen.karpenter = replace(
        usual,
        cluster_name=found["clusterName"] or usual.cluster_name,
        interruption_queue=found["interruptionQueue"] is not False,
        workers=found["workers"] or usual.workers,
    )
    chosen.vm_memory_overhead_percent = life.vm_memory_overhead_percent
    chosen.reserved_enis = life.reserved_enis


def _scheduler(tree: Tree, chosen: Chosen, file: str) -> None:
    below = tree.map("options")
    found = fields.read(below, SCHEDULER)
    weights = Weights()
    if found["weights"] is not None:
        names = {_camel(one.name): one.name for one in fields_of(Weights)}
        given = below.below("weights", found["weights"]).entries(tuple(names), _WHOLE.form)
        weights = replace(weights, **{names[name]: value for name, value in given.items()})
    below.done()
    usual = Profile()
    profile = Profile(
        weights=weights,
        scoring_strategy=found["scoringStrategy"] or usual.scoring_strategy,
        percentage_of_nodes_to_score=found["percentageOfNodesToScore"] or 0,
        hard_pod_affinity_weight=usual.hard_pod_affinity_weight
        if found["hardPodAffinityWeight"] is None
        else found["hardPodAffinityWeight"],
    )
    plain = SchedulerSettings()
    chosen.scheduler = SchedulerSettings(
        (profile,),
        cycle_seconds=plain.cycle_seconds if found["cycle"] is None else found["cycle"] / SECOND,
        bind_timeout_seconds=plain.bind_timeout_seconds
        if found["bindTimeout"] is None
        else max(found["bindTimeout"] // SECOND, 1),
    )


def _kubelet(tree: Tree, chosen: Chosen, file: str) -> None:
    below = tree.map("options")
    found = fields.read(below, KUBELET)
    usual = chosen.kubelet
    pressure = usual.pressure
    if found["pressure"] is not None:
        pressure = _pressure(below.below("pressure", found["pressure"]), pressure)
    below.done()
    chosen.kubelet = replace(
        usual,
        pressure=pressure,
        **{
            name: value
            for name, value in (
                ("sees_after", found["seesAfter"]),
                ("longest_restart_delay", found["longestRestartDelay"]),
                ("tells_normal_events", found["tellsNormalEvents"]),
            )
            if value is not None
        },
    )


def _pressure(tree: Tree, usual: PressureSettings) -> PressureSettings:
    """Each setting in the form of its default: an amount of bytes, or a number."""
    said: dict[str, Any] = {}
    for one in fields_of(PressureSettings):
        default = getattr(usual, one.name)
        value = tree.value(_camel(one.name), _like(default), None)
        if value is not None:
            said[one.name] = value
    tree.done()
    return replace(usual, **said)


def _like(default: object) -> Form[Any]:
    def read_(given: object) -> Any:
        if isinstance(given, bool) or not isinstance(given, int | float | str):
            raise ValueError
        amount = quantity.parse(given)
        if amount < 0:
            raise ValueError
        return amount // quantity.UNIT if isinstance(default, int) else amount / quantity.UNIT

    return Form(read_, "an amount of bytes, e.g. 450Mi" if isinstance(default, int) else "a number, 0 or more")


def _lifecycle(tree: Tree, chosen: Chosen, file: str) -> None:
    below = tree.map("options")
    chosen.evicts_one_look_later = fields.read(below, LIFECYCLE)["evictsOneLookLater"] is not False
    below.done()


def _cni(tree: Tree, chosen: Chosen, file: str) -> None:
    below = tree.map("options")
    found = fields.read(below, CNI)
    below.done()
    usual = CniSettings()
    if found["agents"] is not None:
        try:
            selector.parse(found["agents"])
        except ValueError as error:
            below.note("agents", str(error), "a label selector, e.g. k8s-app=cilium")
            return
    chosen.network = found["model"] or "works"
    chosen.cni = CniSettings(
        agents=found["agents"] or usual.agents,
        taint=found["taint"] or usual.taint,
        sets_up_in=usual.sets_up_in if found["setsUpIn"] is None else found["setsUpIn"],
    )


def _plain(tree: Tree, chosen: Chosen, file: str) -> None:
    """One of which nothing can be set."""
    tree.map("options").done()


def _camel(name: str) -> str:
    head, *rest = name.split("_")
    return head + "".join(word.title() for word in rest)


_READERS: Final = {
    "karpenter": _karpenter,
    "scheduler": _scheduler,
    "kubelet": _kubelet,
    "node-lifecycle": _lifecycle,
    "cni": _cni,
}
