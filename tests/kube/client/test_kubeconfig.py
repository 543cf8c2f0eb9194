"""Which server and user a kubeconfig names, and what is said where it names none."""

from collections.abc import Mapping
from pathlib import Path

import pytest
import yaml

from baseload.kube.client import kubeconfig
from baseload.kube.client.kubeconfig import Access
from baseload.values.errors import BadInput

CLUSTER = {"server": "https://dev:6443/", "certificate-authority": "ca.crt"}
DEV: dict[str, object] = {
    "apiVersion": "v1",
    "kind": "Config",
    "current-context": "dev",
    "clusters": [{"name": "c", "cluster": CLUSTER}],
    "users": [{"name": "u", "user": {"client-certificate": "u.crt", "client-key": "keys/u.key"}}],
    "contexts": [
        {"name": "dev", "context": {"cluster": "c", "user": "u", "namespace": "shop"}},
        {"name": "nobody", "context": {"cluster": "c"}},
        {"name": "no-cluster", "context": {"cluster": "x", "user": "u"}},
        {"name": "no-user", "context": {"cluster": "c", "user": "x"}},
    ],
}


def write(file: Path, tree: object) -> Path:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(tree if isinstance(tree, str) else yaml.safe_dump(tree))
    return file


def found(context: str | None = None, file: Path | None = None, environment: Mapping[str, str] | None = None) -> Access:
    return kubeconfig.find(context, file, environment=environment or {})


def refused(context: str | None = None, file: Path | None = None, environment: Mapping[str, str] | None = None) -> str:
    with pytest.raises(BadInput) as bad:
        found(context, file, environment)
    return str(bad.value)


def test_the_current_context_counts_where_none_is_named(tmp_path: Path) -> None:
    access = found(file=write(tmp_path / "config", DEV))
    assert (access.context, access.server, access.namespace) == ("dev", "https://dev:6443", "shop")


def test_paths_start_from_the_folder_of_their_file(tmp_path: Path) -> None:
    access = found(file=write(tmp_path / "config", DEV))
    assert access.cluster.certificate_auth == str(tmp_path / "ca.crt")
    assert access.user.client_cert == str(tmp_path / "u.crt")
    assert access.user.client_key == str(tmp_path / "keys" / "u.key")


def test_of_several_files_the_first_that_names_a_thing_counts(tmp_path: Path) -> None:
    one = write(tmp_path / "a" / "config", {"contexts": [{"name": "both", "context": {"cluster": "c"}}]})
    clusters = [{"name": "c", "cluster": {"server": "http://other"}}, {"name": "d", "cluster": {"server": "http://d"}}]
    contexts = [{"name": "both", "context": {"cluster": "d"}}, {"name": "late", "context": {"cluster": "d"}}]
    two = write(tmp_path / "b" / "config", DEV)
    three = write(tmp_path / "c" / "config", {"clusters": clusters, "contexts": contexts})
    files = {"KUBECONFIG": f"{one}:{tmp_path / 'missing'}::{two}:{three}"}
    assert found("both", None, files).server == "https://dev:6443"
    assert found("late", None, files).server == "http://d"
    assert found(environment=files).context == "dev"
    assert found(environment=files).cluster.certificate_auth == str(two.parent / "ca.crt")


def test_without_a_variable_the_file_in_the_home_folder_is_read(tmp_path: Path) -> None:
    write(tmp_path / ".kube" / "config", DEV)
    assert found(environment={"HOME": str(tmp_path)}).context == "dev"


def test_an_unknown_context_names_the_known_ones_and_the_nearest(tmp_path: Path) -> None:
    file = write(tmp_path / "config", DEV)
    assert refused("dve", file) == (
        f'{file}: there is no context "dve" (did you mean "dev"? the contexts are dev, no-cluster, no-user, nobody)'
    )


def test_what_a_context_names_must_be_there(tmp_path: Path) -> None:
    file = write(tmp_path / "config", DEV)
    assert refused("no-cluster", file) == f'{file}: contexts[2].context.cluster: there is no cluster "x"'
    assert refused("no-user", file) == f'{file}: contexts[3].context.user: there is no user "x"'
    assert found("nobody", file).user.token is None


def test_no_file_at_all_says_where_it_was_looked_for(tmp_path: Path) -> None:
    assert refused(environment={"HOME": str(tmp_path)}) == (
        f"{tmp_path}/.kube/config: there is no kubeconfig (name one by --kubeconfig or KUBECONFIG)"
    )
    assert refused(file=tmp_path / "x") == f"{tmp_path}/x: cannot be read: No such file or directory"


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"current-context": None}, "current-context: no context is current (the contexts are"),
        ({"kind": "Pod"}, "is no kubeconfig but a Pod"),
        ({"clusters": {"c": {}}}, "is no kubeconfig: Expected `array | null`, got `object` - at `$.clusters`"),
        (
            {"clusters": [{"name": "c", "cluster": {"server": "dev:6443"}}]},
            "clusters[0].cluster.server: Invalid value: must begin with https:// or http://",
        ),
        (
            {"clusters": [{"name": "c", "cluster": {"server": "https://dev:99999"}}]},
            "clusters[0].cluster.server: Invalid value: must be an address such as https://host:6443",
        ),
        (
            {"clusters": [{"name": "c", "cluster": {**CLUSTER, "proxy-url": "ftp://ann:sesame@proxy"}}]},
            'clusters[0].cluster.proxy-url: Invalid value: unsupported scheme "ftp", must be http, https, or socks5',
        ),
        (
            {"clusters": [{"name": "c", "cluster": {**CLUSTER, "proxy-url": "http://"}}]},
            "clusters[0].cluster.proxy-url: Invalid value: names no host",
        ),
        (
            {"clusters": [{"name": "c", "cluster": {**CLUSTER, "proxy-url": "http://[sesame"}}]},
            "clusters[0].cluster.proxy-url: Invalid value: is no address",
        ),
        (
            {"clusters": [{"name": "c", "cluster": {**CLUSTER, "proxy-url": "socks5://ann:sesame@proxy"}}]},
            "clusters[0].cluster.proxy-url: Invalid value: a socks5 proxy needs the package socksio",
        ),
        (
            {"clusters": [{"name": "c", "cluster": {**CLUSTER, "insecure-skip-tls-verify": True}}]},
            "clusters[0].cluster: a certificate authority and insecure-skip-tls-verify exclude each other",
        ),
        (
            {"users": [{"name": "u", "user": {"token": {"secret": "sesame"}}}]},
            "users[0].user: Invalid value: Expected `str | null`, got `object` - at `$.token`",
        ),
        (
            {"users": [{"name": "u", "user": {"client-key-data": "sesame"}}]},
            "users[0].user: a client certificate needs its key, and a key its certificate",
        ),
        (
            {"users": [{"name": "u", "user": {"auth-provider": {"name": "gcp"}}}]},
            "users[0].user.auth-provider: is no longer supported by Kubernetes' clients; use exec",
        ),
        ({"users": [{"name": "u", "user": {"exec": {"command": "x"}}}]}, "missing required field `apiVersion`"),
    ],
)
def test_what_is_wrong_is_named_by_file_and_entry(tmp_path: Path, change: Mapping[str, object], words: str) -> None:
    file = write(tmp_path / "config", {**DEV, **change})
    said = refused(file=file)
    assert said.startswith(f"{file}: ")
    assert words in said
    assert "sesame" not in said


def test_broken_yaml_is_named_by_its_line(tmp_path: Path) -> None:
    said = refused(file=write(tmp_path / "config", "clusters: [\nx: {"))
    assert said.startswith(f"{tmp_path}/config")


def test_a_pod_uses_its_service_account(tmp_path: Path) -> None:
    for name, text in (("token", "sesame"), ("ca.crt", "-"), ("namespace", "karpenter\n")):
        write(tmp_path / name, text)
    pod = {"KUBERNETES_SERVICE_HOST": "fd00::1", "KUBERNETES_SERVICE_PORT": "443"}
    access = kubeconfig.find(environment=pod, account=tmp_path)
    assert (access.server, access.namespace) == ("https://[fd00::1]:443", "karpenter")
    assert access.user.token_file == str(tmp_path / "token")
    assert access.cluster.certificate_auth == str(tmp_path / "ca.crt")
    assert not access.cluster.insecure


def test_a_kubeconfig_comes_before_the_service_account(tmp_path: Path) -> None:
    file = write(tmp_path / "config", DEV)
    assert found(environment={"KUBECONFIG": str(file), "KUBERNETES_SERVICE_HOST": "10.0.0.1"}).context == "dev"
