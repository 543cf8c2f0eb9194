"""One object of the input and the place where it stands."""

import msgspec

from baseload.values.errors import Fault


class Found(msgspec.Struct, frozen=True, gc=False):
    """An object of the input and its place there."""

    api_version: str
    kind: str
    namespace: str  # "" for what lives in none
    name: str
    json: msgspec.Raw
    file: str
    document: int
    path_prefix: str  # items[3] for the fourth object of a List, else ""

    @property
    def ref(self) -> str:
        """The object's name as faults and plans write it: `Pod default/web-1`, `NodePool default`."""
        return f"{self.kind} {self.namespace}/{self.name}" if self.namespace else f"{self.kind} {self.name}"

    @property
    def place(self) -> str:
        """File, document and, within a List, the item."""
        return ", ".join(part for part in (self.file, f"document {self.document}", self.path_prefix) if part)

    @property
    def raw(self) -> bytes:
        """The object as compact JSON."""
        return bytes(self.json)

    def fault(self, message: str, *, path: str = "", allowed: str = "") -> Fault:
        """A fault of this object."""
        return Fault(message, file=self.file, document=self.document, path=path, allowed=allowed, object=self.ref)
