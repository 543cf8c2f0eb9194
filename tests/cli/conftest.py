"""Commands against a cluster."""

from collections.abc import Callable
from pathlib import Path

import pytest

from baseload.cli.main import main

Run = Callable[..., tuple[int, str, str]]


@pytest.fixture
def run_live(tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Run:
    """Runs a command against the kubeconfig of the test; what it ends with, prints and says."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setenv("KUBECONFIG", str(tmp_path / "config"))
    monkeypatch.delenv("KUBERNETES_SERVICE_HOST", raising=False)

    def runs(*arguments: str) -> tuple[int, str, str]:
        status = main(arguments)
        output = capsys.readouterr()
        return status, output.out, output.err

    return runs
