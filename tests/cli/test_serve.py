"""`baseload serve` from its start to Ctrl-C."""

import base64
import json
import os
import signal
import socket
import ssl
import subprocess
import sys
from pathlib import Path
from urllib.error import HTTPError, URLError
from urllib.request import Request, urlopen

import pytest
import yaml

from baseload.cli.main import main
from baseload.world import kubeconfig
from tests.cli.servers import get, running

POOL = """
apiVersion: karpenter.sh/v1
kind: NodePool
metadata: {name: general}
spec:
  template:
    spec:
      nodeClassRef: {group: karpenter.k8s.aws, kind: EC2NodeClass, name: default}
      requirements: []
"""
DUMP = {
    "apiVersion": "v1",
    "kind": "List",
    "items": [
        {
            "apiVersion": "v1",
            "kind": "Pod",
            "metadata": {
                "name": "web-1-a",
                "namespace": "shop",
                "uid": "pod",
                "resourceVersion": "7",
                "ownerReferences": [{"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": "web-1", "uid": "set"}],
            },
            "spec": {"nodeName": "n1", "containers": [{"name": "main", "image": "nginx:1"}]},
            "status": {"phase": "Running"},
        },
        {
            "apiVersion": "apps/v1",
            "kind": "ReplicaSet",
            "metadata": {
                "name": "web-1",
                "namespace": "shop",
                "uid": "set",
                "resourceVersion": "6",
                "ownerReferences": [{"apiVersion": "apps/v1", "kind": "Deployment", "name": "web", "uid": "gone"}],
            },
            "spec": {
                "replicas": 1,
                "selector": {"matchLabels": {"app": "web"}},
                "template": {
                    "metadata": {"labels": {"app": "web"}},
                    "spec": {"containers": [{"name": "main", "image": "nginx:1"}]},
                },
            },
        },
    ],
}


@pytest.mark.parametrize("end", [signal.SIGINT, signal.SIGHUP])
def test_the_kubeconfig_that_it_names_leads_to_it_and_is_gone_afterwards(end: int) -> None:
    with running("serve", end=end) as (address, said):
        file = Path(said[1].strip().partition("=")[2])
        config = yaml.safe_load(file.read_text(encoding="utf-8"))
        assert config["clusters"][0]["cluster"]["server"] == address
        assert file.stat().st_mode & 0o077 == 0
        assert get(address, "/version")["minor"] == "37"
    assert not file.exists()


def admitted(file: Path, folder: Path) -> ssl.SSLContext:
    """What the kubeconfig of a server with TLS lets its bearer in with."""
    config = yaml.safe_load(file.read_text(encoding="utf-8"))
    cluster, user = config["clusters"][0]["cluster"], config["users"][0]["user"]
    authority = base64.b64decode(cluster["certificate-authority-data"]).decode()
    trusted = ssl.create_default_context(cadata=authority)
    for name in ("client-certificate-data", "client-key-data"):
        (folder / name).write_bytes(base64.b64decode(user[name]))
    trusted.load_cert_chain(folder / "client-certificate-data", folder / "client-key-data")
    return trusted


def test_tls_lets_the_kubeconfig_in_and_at_the_next_start_too(tmp_path: Path) -> None:
    folder = tmp_path / "data"
    with running("serve", "--tls", "--data-dir", str(folder)) as (address, said):
        assert address.startswith("https://127.0.0.1:")
        kept = admitted(folder / "kubeconfig", tmp_path)
        assert get(address, "/api/v1/nodes", kept)["kind"] == "NodeList"
        keys = {file.read_text(encoding="utf-8") for file in (folder / "pki").glob("*.key") if file.name != "sa.key"}
        assert not any(key in "".join(said) for key in keys)

    with running("serve", "--tls", "--data-dir", str(folder)) as (address, _):
        assert get(address, "/api/v1/nodes", kept)["kind"] == "NodeList"


def test_tls_says_nothing_of_clients_that_speak_something_else(tmp_path: Path) -> None:
    with running("serve", "--tls", "--data-dir", str(tmp_path)) as (address, _):
        port = int(address.rpartition(":")[2])
        with socket.create_connection(("127.0.0.1", port), timeout=10) as plain:
            plain.sendall(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n")
            assert b"HTTP/1.1 200" not in plain.recv(1024)
        with pytest.raises(URLError):
            get(address, "/version", ssl.create_default_context())


def test_tokens_of_a_file_are_users(tmp_path: Path) -> None:
    (tmp_path / "users").write_text('root-token,root,0,"system:masters"\n\nj,jane,1\n', encoding="utf-8")
    folder = str(tmp_path / "data")
    with running("serve", "--tls", "--data-dir", folder, "--token-auth-file", str(tmp_path / "users")) as (address, _):
        trusted = ssl.create_default_context(cafile=str(tmp_path / "data/pki/ca.crt"))
        asked = Request(f"{address}/api/v1/nodes", headers={"authorization": "Bearer root-token"})
        assert urlopen(asked, context=trusted, timeout=10).status == 200
        with pytest.raises(HTTPError, match="403") as raised:
            urlopen(Request(asked.full_url, headers={"authorization": "Bearer j"}), context=trusted, timeout=10)
        raised.value.close()


def test_a_file_of_tokens_is_read_without_telling_any(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "users"
    file.write_text("hushhush,jane\n,otto,1\n", encoding="utf-8")
    assert main(["serve", "--tls", "--token-auth-file", str(file)]) == 2
    said = capsys.readouterr().err
    assert "line 1: must be TOKEN,USER,UID" in said
    assert "line 2: must be TOKEN,USER,UID" in said
    assert "hushhush" not in said
    assert main(["serve", "--token-auth-file", str(file)]) == 2
    assert "--token-auth-file needs --tls" in capsys.readouterr().err


def test_tls_without_cryptography_says_what_to_install() -> None:
    absent = "import sys; sys.modules['cryptography'] = None; from baseload.cli.main import main; sys.exit(main())"
    command = [sys.executable, "-c", absent, "serve", "--tls"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=30)
    assert done.returncode != 0
    assert done.stderr == "Error: --tls needs cryptography, which is not installed: install baseload[tls]\n"


def test_objects_in_a_data_directory_are_there_again(tmp_path: Path) -> None:
    (tmp_path / "pool.yaml").write_text(POOL, encoding="utf-8")
    folder = str(tmp_path / "data")
    path = "/apis/karpenter.sh/v1/nodepools/general"
    with running("serve", "--data-dir", folder, "-f", str(tmp_path / "pool.yaml")) as (address, _):
        before = get(address, path)

    with running("serve", "--data-dir", folder) as (address, _):
        after = get(address, path)

    assert after == before


def test_a_dump_is_there_with_its_status_and_its_owners(tmp_path: Path) -> None:
    (tmp_path / "dump.json").write_text(json.dumps(DUMP), encoding="utf-8")

    with running("serve", "-f", str(tmp_path / "dump.json")) as (address, _):
        pod = json.dumps(get(address, "/api/v1/namespaces/shop/pods/web-1-a"))
        replica_set = json.dumps(get(address, "/apis/apps/v1/namespaces/shop/replicasets/web-1"))

    read, owner = json.loads(pod), json.loads(replica_set)
    assert (read["spec"]["nodeName"], read["status"]["phase"]) == ("n1", "Running")
    assert read["metadata"]["ownerReferences"][0]["uid"] == owner["metadata"]["uid"]
    assert "ownerReferences" not in owner["metadata"]


def test_a_watch_that_is_open_does_not_hold_up_the_end() -> None:
    with running("serve") as (address, _):
        watch = urlopen(f"{address}/api/v1/pods?watch=true", timeout=10)
    watch.close()


def test_a_port_that_is_taken_is_bad_usage(capsys: pytest.CaptureFixture[str]) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]

        assert main(["serve", "--port", str(port)]) == 2

    assert capsys.readouterr().err == f"Error: port {port} cannot be listened on: Address already in use\n"


def test_manifests_that_are_wrong_are_bad_input(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "pool.yaml"
    file.write_text(POOL.replace("requirements", "requirement"), encoding="utf-8")

    assert main(["serve", "-f", str(file)]) == 2

    assert 'unknown field "spec.template.spec.requirement"' in capsys.readouterr().err


def test_a_kubeconfig_keeps_what_else_it_holds(tmp_path: Path) -> None:
    file = tmp_path / "config"
    mine = {"name": "mine", "cluster": {"server": "https://example.com"}}
    file.write_text(yaml.safe_dump({"kind": "Config", "clusters": [mine], "current-context": "mine"}), encoding="utf-8")

    kubeconfig.write(file, "http://127.0.0.1:1")
    kubeconfig.write(file, "http://127.0.0.1:2")

    config = yaml.safe_load(file.read_text(encoding="utf-8"))
    assert [held["name"] for held in config["clusters"]] == ["mine", "baseload"]
    assert config["clusters"][1]["cluster"]["server"] == "http://127.0.0.1:2"
    assert config["current-context"] == "baseload"
    assert os.listdir(tmp_path) == ["config"]


def test_what_is_no_kubeconfig_is_left_alone(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "notes.txt"
    file.write_text("- shopping\n", encoding="utf-8")

    assert main(["serve", "--kubeconfig", str(file)]) == 2

    assert capsys.readouterr().err == f"{file}: is no kubeconfig\n"
    assert file.read_text(encoding="utf-8") == "- shopping\n"


def test_a_data_directory_that_holds_no_keys_is_said_to_be_at_fault(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "pki").write_text("no folder", encoding="utf-8")

    assert main(["serve", "--data-dir", str(tmp_path)]) == 2
    assert capsys.readouterr().err == f"Error: {tmp_path}/pki/sa.key: Not a directory\n"
