"""The real kubectl, pointed at a server as new, for each test; nobody's own kubeconfig or cache is touched."""

import os
import subprocess
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.conftest import Golden
from tests.embedded.clock import Standing
from tests.kubectl import recorded as goldens
from tests.servers import kubectls
from tests.servers.asking import ask
from tests.servers.port import Server


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
    server: Server
    version: str = kubectls.NEW

    @property
    def clock(self) -> Standing:
        """The embedded server's time."""
        return self.server.clock

    @property
    def environment(self) -> dict[str, str]:
        own = {"HOME": str(self.home), "KUBECONFIG": str(self.home / "config"), "TZ": "UTC"}
        return {**os.environ, **own}

    def command(self, *arguments: str) -> list[str]:
        return [str(kubectls.program(self.version)), f"--cache-dir={self.home / 'cache'}", *arguments]

    def run(self, *arguments: str, stdin: str = "", env: dict[str, str] | None = None) -> Outcome:
        """Runs to the end, whatever that is."""
        done = subprocess.run(
            self.command(*arguments),
            env={**self.environment, **(env or {})},
            input=stdin,
            capture_output=True,
            text=True,
            timeout=30,
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
def kubectl(tmp_path: Path, server: Server, version: str) -> Kubectl:
    server.write_kubeconfig(tmp_path / "config")
    return Kubectl(tmp_path, server, version)


@pytest.fixture
def recorded(server: Server, golden: Golden, request: pytest.FixtureRequest) -> goldens.Recorded:
    """Compares with a golden file, of which a real server's are written by a real one alone."""

    def compare(name: str, printed: str) -> None:
        file = goldens.GOLDEN / name
        origin = goldens.origin(file)
        if server.is_real:
            origin = goldens.ORIGIN + str(ask(server, "GET", "/version")[1]["gitVersion"])
        elif request.config.getoption("--update-golden"):
            assert not origin.startswith(goldens.ORIGIN), "a real server's: pytest --update-golden --server=real"
        golden(file, goldens.text(origin, printed))

    return compare
