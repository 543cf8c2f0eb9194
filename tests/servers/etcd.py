"""A real server's database, by etcd's own HTTP gateway: what is in it is noted once, and put back after each test.

Whatever a test made, changed or took away is undone beneath the API server, finalizers or not; the API server and its
controllers see the keys change as they would see anybody's write.
"""

import base64
import json
from dataclasses import dataclass, field
from http.client import HTTPConnection
from typing import Any

_FIRST, _END = b"/registry/", b"/registry0"
_VOLATILE = ("/registry/leases/kube-system/", "/registry/masterleases/", "/registry/ranges/")
_PASSES = 100


@dataclass(slots=True)
class Etcd:
    """An etcd on a port of loopback."""

    port: int
    _noted: dict[str, str] = field(default_factory=dict, repr=False)  # key -> value, both in base64 as they travel
    _versions: dict[str, str] = field(default_factory=dict, repr=False)  # key -> its version when it last was as noted

    def note(self) -> None:
        """Notes what there is."""
        found = self._range(keys_only=False)
        self._noted = {pair["key"]: pair.get("value", "") for pair in found}
        self._versions = {pair["key"]: pair["mod_revision"] for pair in found}

    def restore(self) -> None:
        """Puts back what was noted; what controllers still do about it meanwhile is undone too."""
        for _ in range(_PASSES):
            now = {pair["key"]: pair["mod_revision"] for pair in self._range(keys_only=True)}
            made = now.keys() - self._noted.keys()
            changed = [key for key in self._noted if now.get(key) != self._versions[key] and not _is_volatile(key)]
            if not made and not changed:
                return
            for key in made:
                self._ask("deleterange", {"key": key})
            for key in changed:
                answer = self._ask("put", {"key": key, "value": self._noted[key]})
                self._versions[key] = answer["header"]["revision"]
        raise AssertionError("the real server does not come to rest")

    def _range(self, *, keys_only: bool) -> list[dict[str, str]]:
        asked = {"key": _text(_FIRST), "range_end": _text(_END), "keys_only": keys_only}
        found: list[dict[str, str]] = self._ask("range", asked).get("kvs", [])
        return [pair for pair in found if not _is_volatile(pair["key"])]

    def _ask(self, action: str, asked: dict[str, object]) -> dict[str, Any]:
        connection = HTTPConnection("127.0.0.1", self.port, timeout=20)
        try:
            connection.request("POST", f"/v3/kv/{action}", json.dumps(asked))
            response = connection.getresponse()
            body = response.read()
        finally:
            connection.close()
        assert response.status == 200, body
        answer: dict[str, Any] = json.loads(body)
        return answer


def _text(key: bytes) -> str:
    return base64.b64encode(key).decode()


def _is_volatile(key: str) -> bool:
    """Whether the server itself writes a key all the time, so that it is nobody's doing."""
    return base64.b64decode(key).decode().startswith(_VOLATILE)
