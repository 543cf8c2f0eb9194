"""A real Kubernetes API server with its database, on free ports of loopback.

The programs are found as Kubernetes' own tests find them: in the folder that KUBEBUILDER_ASSETS names, else where
`make envtest` builds them. Of the controllers those run whose work the embedded cluster does itself.
"""

import os
import signal
import socket
import ssl
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from http.client import HTTPConnection, HTTPSConnection
from pathlib import Path
from typing import Any, ClassVar

import yaml

from tests.embedded.clock import Standing
from tests.servers.asking import ask
from tests.servers.etcd import Etcd

BUILT = Path(__file__).parents[2] / "build" / "envtest"
PROGRAMS = ("etcd", "kube-apiserver", "kube-controller-manager")
CONTROLLERS = (
    "clusterrole-aggregation-controller",
    "garbage-collector-controller",
    "namespace-controller",
    "serviceaccount-controller",
)
ACCOUNTS = ("default", "kube-node-lease", "kube-public", "kube-system")  # the namespaces of a new server
_TOKEN = "administrator"
_LONGEST = 50.0  # seconds until it has to answer


def assets() -> Path | None:
    """The folder with the programs; None where they are not."""
    folder = Path(os.environ.get("KUBEBUILDER_ASSETS") or BUILT)
    return folder if all((folder / name).exists() for name in PROGRAMS) else None


@dataclass(frozen=True, slots=True)
class Real:
    """A server that answers."""

    port: int
    authority: Path
    etcd: Etcd

    is_real: ClassVar[bool] = True

    @property
    def address(self) -> str:
        return f"https://127.0.0.1:{self.port}"

    @property
    def clock(self) -> Standing:
        raise AssertionError("a real server's time cannot be moved: the test is for the embedded server alone")

    def write_kubeconfig(self, file: Path) -> None:
        cluster = {"server": self.address, "certificate-authority": str(self.authority)}
        context = {"cluster": "real", "user": "administrator", "namespace": "default"}
        tree = {
            "apiVersion": "v1",
            "kind": "Config",
            "clusters": [{"name": "real", "cluster": cluster}],
            "users": [{"name": "administrator", "user": {"token": _TOKEN}}],
            "contexts": [{"name": "real", "context": context}],
            "current-context": "real",
        }
        file.write_text(yaml.safe_dump(tree), encoding="utf-8")

    @property
    def headers(self) -> dict[str, str]:
        return {"authorization": f"Bearer {_TOKEN}"}

    def connect(self) -> HTTPConnection:
        trusted = ssl.create_default_context(cafile=str(self.authority))
        return HTTPSConnection("127.0.0.1", self.port, timeout=20, context=trusted)


@contextmanager
def running(assets: Path, folder: Path, definitions: list[dict[str, Any]]) -> Iterator[Real]:
    """A server that has the definitions of custom resources that the embedded one begins with."""
    ports = etcd_port, _, port, _ = free_ports(4)
    (folder / "accounts.key").write_bytes(_account_key())
    (folder / "tokens.csv").write_text(f"{_TOKEN},administrator,administrator,system:masters\n", encoding="ascii")
    real = Real(port, folder / "certificates" / "apiserver.crt", Etcd(etcd_port))
    with ExitStack() as stack:
        etcd, server, manager = _commands(assets, folder, *ports)
        stack.enter_context(program(folder, etcd))
        stack.enter_context(program(folder, server))
        _wait(lambda: real.authority.exists() and _is_ready(real))
        real.write_kubeconfig(folder / "kubeconfig")
        stack.enter_context(program(folder, manager))
        _furnish(real, definitions)
        real.etcd.note()
        yield real


def _commands(assets: Path, folder: Path, etcd: int, peer: int, port: int, manager: int) -> list[list[str]]:
    """The three programs as they are started."""
    database, others, key = f"http://127.0.0.1:{etcd}", f"http://127.0.0.1:{peer}", folder / "accounts.key"
    return [
        [
            str(assets / "etcd"),
            "--unsafe-no-fsync",
            f"--data-dir={folder / 'etcd'}",
            f"--listen-client-urls={database}",
            f"--advertise-client-urls={database}",
            f"--listen-peer-urls={others}",
            f"--initial-advertise-peer-urls={others}",
            f"--initial-cluster=default={others}",
        ],
        [
            str(assets / "kube-apiserver"),
            f"--etcd-servers={database}",
            f"--secure-port={port}",
            "--bind-address=127.0.0.1",
            "--advertise-address=127.0.0.1",
            f"--cert-dir={folder / 'certificates'}",
            f"--token-auth-file={folder / 'tokens.csv'}",
            "--service-account-issuer=https://kubernetes.default.svc",
            f"--service-account-key-file={key}",
            f"--service-account-signing-key-file={key}",
            "--service-cluster-ip-range=10.96.0.0/16",
            "--authorization-mode=RBAC",
            "--endpoint-reconciler-type=none",
            "--allow-privileged=true",
        ],
        [
            str(assets / "kube-controller-manager"),
            f"--kubeconfig={folder / 'kubeconfig'}",
            f"--secure-port={manager}",
            "--bind-address=127.0.0.1",
            "--leader-elect=false",
            f"--cert-dir={folder / 'manager'}",
            f"--service-account-private-key-file={key}",
            "--kube-api-qps=1000",
            "--kube-api-burst=2000",
            f"--controllers={','.join(CONTROLLERS)}",
        ],
    ]


def _furnish(real: Real, definitions: list[dict[str, Any]]) -> None:
    base = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
    for definition in definitions:
        code, answer = ask(real, "POST", base, definition)
        assert code == 201, answer
    for name in (definition["metadata"]["name"] for definition in definitions):
        _wait(lambda name=name: _is_established(ask(real, "GET", f"{base}/{name}")[1]))  # type: ignore[misc]
    paths = {
        f"apis/{it['spec']['group']}/{version['name']}" for it in definitions for version in it["spec"]["versions"]
    }
    _wait(lambda: paths <= ask(real, "GET", "/openapi/v3")[1]["paths"].keys())
    for namespace in ACCOUNTS:
        path = f"/api/v1/namespaces/{namespace}/serviceaccounts/default"
        _wait(lambda path=path: ask(real, "GET", path)[0] == 200)  # type: ignore[misc]
    _wait(lambda: ask(real, "GET", "/api/v1/namespaces/default/services/kubernetes")[0] == 200)


def _is_established(definition: dict[str, Any]) -> bool:
    conditions = definition.get("status", {}).get("conditions", [])
    return any(held["type"] == "Established" and held["status"] == "True" for held in conditions)


def _is_ready(real: Real) -> bool:
    try:
        return ask(real, "GET", "/readyz")[0] == 200
    except OSError:
        return False


def _wait(is_so: Callable[[], bool]) -> None:
    end = time.monotonic() + _LONGEST
    while not is_so():
        assert time.monotonic() < end, "the real server does not get ready"
        time.sleep(0.05)


@contextmanager
def program(folder: Path, command: list[str]) -> Iterator[None]:
    """Runs a program until the end of the block; what it says goes into a file beside its data."""
    with (folder / f"{Path(command[0]).name}.log").open("wb") as log:
        process = subprocess.Popen(command, stdout=log, stderr=log, cwd=folder)
    try:
        yield
    finally:
        process.send_signal(signal.SIGTERM)
        try:
            process.wait(10)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def _account_key() -> bytes:
    """What service accounts' tokens are signed with."""
    from cryptography.hazmat.primitives import serialization
    from cryptography.hazmat.primitives.asymmetric import rsa

    key = rsa.generate_private_key(public_exponent=65537, key_size=2048)
    form = serialization.PrivateFormat.TraditionalOpenSSL
    return key.private_bytes(serialization.Encoding.PEM, form, serialization.NoEncryption())


def free_ports(number: int) -> list[int]:
    with ExitStack() as stack:
        sockets = [stack.enter_context(socket.socket()) for _ in range(number)]
        for it in sockets:
            it.bind(("127.0.0.1", 0))
        return [it.getsockname()[1] for it in sockets]
