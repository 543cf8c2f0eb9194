"""Controllers that own pods: they hear of them, take orphans that they mean, and let go what they no longer mean."""

from baseload.embedded.actors.workloads.controller import Controller
from baseload.embedded.actors.workloads.ownership import Tally, adopted, is_meant, released
from baseload.embedded.store.log import Event
from baseload.embedded.store.record import Owner, Record
from baseload.kube.types.meta import LabelSelector, Wire
from baseload.values import selector


class _Selecting(Wire, frozen=True):
    selector: LabelSelector | None = None


class PodController(Controller):
    """A controller of objects whose selector says which pods are theirs."""

    def begin(self) -> None:
        super().begin()
        self.pods.hear(self.kind, self.note_pod)
        self.pods.hear_orphans(self._note_orphan)

    def note_pod(self, owner: Owner, event: Event) -> None:
        """Something happened to a pod of one of its objects."""
        self.queue.add(f"{event.record.namespace}/{owner.name}")

    def _note_orphan(self, event: Event) -> None:
        pod = event.record
        if event.old is not None and event.old.shared is pod.shared:
            return
        for key, record in self.client.records(self.group, self.kind).items():
            if record.namespace == pod.namespace and is_meant(_selector(record), pod):
                self.queue.add(key)

    def claim(self, record: Record, tally: Tally) -> bool:
        """Takes orphans that an object means and lets go of pods that it no longer means; whether there were any."""
        orphans = self.pods.orphans(record.namespace)
        if not orphans and not tally.doubtful:
            return False
        wanted, claimed = _selector(record), False
        for pod in [pod for pod in orphans.values() if is_meant(wanted, pod)]:
            self.wrote(record.key, self.client.merge(pod, adopted(record, pod)))
            claimed = True
        for key in list(tally.doubtful):
            del tally.doubtful[key]
            pod = tally.pods[key]
            if not wanted.matches(pod.shared.labels) and pod.deletion is None:
                self.wrote(record.key, self.client.merge(pod, released(record, pod)))
                claimed = True
        return claimed


def _selector(record: Record) -> selector.Selector:
    return selector.compile(record.body.spec(_Selecting).selector)
