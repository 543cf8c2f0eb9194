"""A server of its own and the real kubectl for each test.

The clock stands, so that ages are the same in every run; nobody's own kubeconfig or cache is touched.
"""

import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from baseload.embedded import server
from baseload.world import embedded, kubeconfig
from tests.embedded.clock import Standing

PROGRAM = Path(sys.executable).with_name("kubectl")


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a command wrote, and how it ended."""

    out: str
    err: str
    code: int


@dataclass(frozen=True, slots=True)
class Kubectl:
    """The real kubectl, pointed at the test's server."""

    home: Path
    clock: Standing

    @property
    def environment(self) -> dict[str, str]:
        own = {"HOME": str(self.home), "KUBECONFIG": str(self.home / "config"), "TZ": "UTC"}
        return {**os.environ, **own}

    def command(self, *arguments: str) -> list[str]:
        return [str(PROGRAM), f"--cache-dir={self.home / 'cache'}", *arguments]

    def run(self, *arguments: str, stdin: str = "") -> Outcome:
        """Runs to the end, whatever that is."""
        done = subprocess.run(
            self.command(*arguments), env=self.environment, input=stdin, capture_output=True, text=True, timeout=30
        )
        return Outcome(done.stdout, done.stderr, done.returncode)

    def __call__(self, *arguments: str, stdin: str = "") -> str:
        """What a command prints that must end well."""
        outcome = self.run(*arguments, stdin=stdin)
        assert outcome.code == 0, outcome.err
        return outcome.out

    def refused(self, *arguments: str, stdin: str = "") -> str:
        """What a command says that must fail."""
        outcome = self.run(*arguments, stdin=stdin)
        assert outcome.code != 0, outcome.out
        return outcome.err


@pytest.fixture
def kubectl(tmp_path: Path) -> Iterator[Kubectl]:
    clock = Standing()
    world = embedded.build(None, None, clock=clock)
    listener = server.listening(0)
    address = f"http://{server.LOOPBACK}:{listener.getsockname()[1]}"
    answers = threading.Event()
    stops: list[server.Stop] = []

    def started(stop: server.Stop) -> None:
        kubeconfig.write(tmp_path / "config", address)
        stops.append(stop)
        answers.set()

    thread = threading.Thread(target=server.serve, args=(world.cluster, listener, started))
    thread.start()
    assert answers.wait(20)
    yield Kubectl(tmp_path, clock)
    for stop in stops:
        stop()
    thread.join(20)
    assert not thread.is_alive()
