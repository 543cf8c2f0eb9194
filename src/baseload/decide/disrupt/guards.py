"""Which PodDisruptionBudgets let pods go now, and which pods protect their node (disruption spec 6, 7)."""

from collections.abc import Iterable
from typing import Final

from baseload.decide.fit.constraints import selector_of
from baseload.decide.lifecycle import pods as of_pods
from baseload.decide.provision.pods import is_held
from baseload.kube.types.core import Pod
from baseload.kube.types.policy import PodDisruptionBudget
from baseload.model.view import View, name_of
from baseload.plan.disrupt import Kept
from baseload.values.selector import Selector

Block = tuple[Kept, str]
"""why a node is kept, and the same in words that name what is concerned"""


class Guards:
    """The budgets of a view, and what they say of pods."""

    def __init__(self, view: View, now: int) -> None:
        self._now: Final = now
        self._budgets: Final[dict[str, list[tuple[Selector, PodDisruptionBudget]]]] = {}
        self._matching: Final[dict[tuple[object, ...], tuple[PodDisruptionBudget, ...]]] = {}
        for budget in view.pod_disruption_budgets:
            selector = selector_of(budget.spec.selector)
            if selector is not None:
                self._budgets.setdefault(budget.metadata.namespace, []).append((selector, budget))

    def block(self, pods: Iterable[Pod]) -> tuple[Kept, str, str] | None:
        """The first pod in the way of a graceful disruption, as reason, words and the pod's name; None: none is."""
        listed = tuple(pods)
        for pod in listed:
            if pod.metadata.annotations and of_pods.is_active(pod) and is_held(pod, self._now):
                text = f"pod {name_of(pod)} carries the annotation karpenter.sh/do-not-disrupt"
                return Kept.POD_MARK, text, name_of(pod)
        for pod in listed:
            if (blocked := self._by_budgets(pod)) is not None:
                return *blocked, name_of(pod)
        return None

    def _by_budgets(self, pod: Pod) -> Block | None:
        """Whether budgets let a pod go now (7.2)."""
        if not self._budgets.get(pod.metadata.namespace):
            return None
        matching = self.matching(pod)
        if not matching or not of_pods.is_evictable(pod, self._now):
            return None
        if len(matching) > 1:
            names = ", ".join(name_of(budget) for budget in matching)
            text = f"pod {name_of(pod)} is guarded by several PodDisruptionBudgets ({names}), which is not supported"
            return Kept.SEVERAL_BUDGETS, text
        [budget] = matching
        if budget.spec.unhealthy_pod_eviction_policy == "AlwaysAllow" and _is_unready(pod):
            return None
        if budget.status.disruptions_allowed:
            return None
        text = f"PodDisruptionBudget {name_of(budget)} lets pod {name_of(pod)} not go now (disruptionsAllowed 0)"
        return Kept.BUDGET_OF_PODS, text

    def matching(self, pod: Pod) -> tuple[PodDisruptionBudget, ...]:
        """The budgets that guard a pod."""
        key = (pod.metadata.namespace, *sorted(pod.metadata.labels.items()))
        found = self._matching.get(key)
        if found is None:
            held = self._budgets.get(pod.metadata.namespace, ())
            found = tuple(budget for selector, budget in held if selector.matches(pod.metadata.labels))
            self._matching[key] = found
        return found


def _is_unready(pod: Pod) -> bool:
    return any(c.type == "Ready" and c.status == "False" for c in pod.status.conditions)
