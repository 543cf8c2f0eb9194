"""Commands that serve until they are told to stop, in processes of their own."""

import json
import signal
import ssl
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from urllib.request import Request, urlopen


@contextmanager
def running(command: str, *arguments: str, end: int = signal.SIGINT) -> Iterator[tuple[str, list[str]]]:
    """The address of a server that runs, and what it has said; a signal ends it, and it must end well."""
    line = [sys.executable, "-m", "baseload", command, *arguments]
    with subprocess.Popen(line, stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr is not None
        said = [process.stderr.readline(), process.stderr.readline()]
        assert "the API answers at http" in said[0], "".join(said) + process.stderr.read()
        try:
            yield said[0].split(";")[0].split()[-1], said
        except BaseException:
            process.kill()  # nobody would wait for the end of what goes on
            raise
        process.send_signal(end)
        rest = process.stderr.read()
    assert (process.returncode, rest) == (0, "stopped\n")


def get(address: str, path: str, trusted: ssl.SSLContext | None = None) -> dict[str, Any]:
    with urlopen(f"{address}{path}", timeout=10, context=trusted) as answer:
        tree: dict[str, Any] = json.load(answer)
    return tree


def send(address: str, method: str, path: str, tree: object, kind: str = "application/json") -> dict[str, Any]:
    """Sends an object or a patch; the object as it is then."""
    body = json.dumps(tree).encode()
    request = Request(f"{address}{path}", data=body, method=method, headers={"content-type": kind})
    with urlopen(request, timeout=10) as answer:
        after: dict[str, Any] = json.load(answer)
    return after
