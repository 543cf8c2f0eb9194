"""Which proxy of the environment is taken: as kubectl, and every Go program, has it."""

from collections.abc import Mapping

import pytest

from baseload.kube.client import proxy
from baseload.kube.client.proxy import ProxyError

SET = {"HTTPS_PROXY": "http://proxy:3128", "HTTP_PROXY": "http://plain:3128"}


@pytest.mark.parametrize(
    ("environment", "wanted"),
    [
        ({}, None),
        (SET, "http://proxy:3128"),
        ({"https_proxy": "proxy:3128"}, "http://proxy:3128"),
        ({"HTTP_PROXY": "http://plain:3128", "ALL_PROXY": "http://all:3128"}, None),
    ],
)
def test_the_variable_of_the_server_s_scheme_counts(environment: Mapping[str, str], wanted: str | None) -> None:
    assert proxy.of_environment("https://api.prod.example:6443", environment) == wanted


@pytest.mark.parametrize("address", ["https://127.0.0.1:6443", "http://localhost:8080", "https://[::1]:6443"])
def test_this_machine_is_never_reached_through_a_proxy(address: str) -> None:
    assert proxy.of_environment(address, SET) is None


@pytest.mark.parametrize(
    ("exceptions", "address", "is_direct"),
    [
        ("*", "https://api.prod.example", True),
        ("prod.example", "https://prod.example", True),
        ("prod.example", "https://api.prod.example", True),
        ("prod.example", "https://notprod.example", False),
        (".prod.example", "https://prod.example", False),
        ("*.prod.example", "https://api.prod.example", True),
        ("other, PROD.example ,", "https://api.prod.example", True),
        ("api.prod.example:6443", "https://api.prod.example:6443", True),
        ("api.prod.example:443", "https://api.prod.example:6443", False),
        ("api.prod.example:443", "https://api.prod.example", True),
        ("10.0.0.0/8", "https://10.1.2.3:6443", True),
        ("10.0.0.0/8", "https://11.1.2.3:6443", False),
        ("10.0.0.0/8", "https://api.prod.example", False),
        ("10.1.2.3", "https://10.1.2.3", True),
        ("10.1.2.3:443", "https://10.1.2.3:6443", False),
        ("fd00::/8", "https://[fd00::1]:6443", True),
        ("[fd00::1]:6443", "https://[fd00::1]:6443", True),
        ("fd00::1", "https://[fd00::1]:6443", True),
        ("", "https://api.prod.example", False),
    ],
)
def test_what_no_proxy_names_is_reached_directly(exceptions: str, address: str, is_direct: bool) -> None:
    found = proxy.of_environment(address, {**SET, "NO_PROXY": exceptions})
    assert found == (None if is_direct else "http://proxy:3128")


def test_a_proxy_of_no_use_is_named_by_its_variable_without_its_password() -> None:
    with pytest.raises(ProxyError) as bad:
        proxy.of_environment("https://api.prod.example", {"HTTPS_PROXY": "ftp://ann:sesame@proxy"})
    assert str(bad.value) == 'HTTPS_PROXY: unsupported scheme "ftp", must be http, https, or socks5'
