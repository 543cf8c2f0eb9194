"""The objects of storage as typed readings, read anew where they changed."""

from typing import Final, TypeVar

from baseload.embedded.actors.client import ActorClient
from baseload.embedded.store.record import Record, encode
from baseload.kube import reading as json_reading
from baseload.kube.types.core import PersistentVolumeClaim
from baseload.kube.types.meta import Wire
from baseload.kube.types.storage import StorageClass

T = TypeVar("T", bound=Wire)
GROUP: Final = "storage.k8s.io"


class Objects:
    """Records and what they say."""

    def __init__(self, client: ActorClient) -> None:
        self.client: Final = client
        self._read: dict[str, tuple[Record, Wire]] = {}  # by uid

    def read(self, record: Record, reading: type[T]) -> T:
        """What an object says."""
        known = self._read.get(record.uid)
        if known is None or known[0] is not record:
            known = self._read[record.uid] = record, json_reading.decoded(encode(record), reading)
        assert isinstance(known[1], reading)
        return known[1]

    def forget(self, record: Record) -> None:
        self._read.pop(record.uid, None)

    def claim(self, namespace: str, name: str) -> PersistentVolumeClaim | None:
        record = self.record("", "PersistentVolumeClaim", namespace, name)
        return None if record is None else self.read(record, PersistentVolumeClaim)

    def storage_class(self, name: str) -> StorageClass | None:
        record = self.record(GROUP, "StorageClass", "", name) if name else None
        return None if record is None else self.read(record, StorageClass)

    def record(self, group: str, kind: str, namespace: str, name: str) -> Record | None:
        return self.client.store.find(self.client.resource(group, kind), namespace, name)
