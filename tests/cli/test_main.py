"""Every way a command can end has its exit status, and stdout holds whole outputs only."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

import baseload
from baseload.cli.main import main
from tests.cli.probes import PROBES

HEAVY = ("asyncio", "boto3", "msgspec", "numpy", "rich", "yaml")


def python(*arguments: str, stdout: int = subprocess.PIPE, **environment: str) -> "subprocess.CompletedProcess[bytes]":
    return subprocess.run(
        [sys.executable, *arguments],
        stdout=stdout,
        stderr=subprocess.PIPE,
        env={name: value for name, value in os.environ.items() if name != "PYTHONUNBUFFERED"} | environment,
        check=False,
    )


def test_a_command_that_is_done_prints_its_output_and_ends_with_0(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["fine"], group=PROBES) == 0
    assert capsys.readouterr() == ("café ▶ 1\n", "")


def test_a_failed_check_ends_with_1() -> None:
    assert main(["failed"], group=PROBES) == 1


def test_bad_input_ends_with_2_and_one_line_a_fault(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["bad"], group=PROBES) == 2
    assert capsys.readouterr() == ("", "a.yaml: spec.weight: is no number\ncannot be read:   line 3\n")


def test_what_cannot_be_reached_ends_with_3(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["unreachable"], group=PROBES) == 3
    assert capsys.readouterr() == ("", "baseload: ec2.eu-west-1: no answer\n")


def test_ctrl_c_ends_with_130_and_no_traceback(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["interrupted"], group=PROBES) == 130
    assert capsys.readouterr() == ("", "baseload: interrupted\n")


@pytest.mark.parametrize("arguments", [["plna"], ["plan", "provison"], ["--plan"], ["completion", "csh"]])
def test_wrong_usage_ends_with_2(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(arguments) == 2
    output = capsys.readouterr()
    assert output.out == ""
    assert "Error: " in output.err


def test_a_misspelt_command_is_answered_with_the_nearest(capsys: pytest.CaptureFixture[str]) -> None:
    main(["plan", "provison"])

    assert "Did you mean 'provision'?" in capsys.readouterr().err


def test_help_lists_commands_without_importing_them(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--help"], group=PROBES) == 0
    assert "Probe absent." in capsys.readouterr().out


def test_help_imports_nothing_heavy() -> None:
    code = f"""
import sys
from pathlib import Path
from baseload.cli.main import main
assert main(["plan", "--help"]) == main(["--help"]) == 0
sys.exit(", ".join(set({HEAVY}) & set(sys.modules)))
"""
    assert python("-c", code).stderr == b"\n"


@pytest.mark.parametrize("arguments", [["--version"], ["version"]])
def test_the_version_is_printed(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(arguments) == 0
    assert capsys.readouterr().out == f"baseload {baseload.__version__}\n"


def test_python_dash_m_baseload_is_the_command(capsys: pytest.CaptureFixture[str]) -> None:
    main(["plan", "--help"])

    assert python("-m", "baseload", "plan", "--help").stdout.decode() == capsys.readouterr().out


def test_output_has_the_same_bytes_under_every_locale() -> None:
    code = "from tests.cli.probes import *; from baseload.cli.main import main; main(['fine'], group=PROBES)"
    result = python("-c", code, LC_ALL="C", PYTHONUTF8="0", PYTHONCOERCECLOCALE="0", PYTHONIOENCODING="latin-1")

    assert result.stdout == "café ▶ 1\n".encode()


def test_a_reader_that_leaves_early_is_no_error() -> None:
    reader, writer = os.pipe()
    os.close(reader)
    result = python("-m", "baseload", "completion", "fish", stdout=writer)
    os.close(writer)

    assert (result.returncode, result.stderr) == (0, b"")


def test_output_that_cannot_be_written_ends_with_2_and_no_traceback() -> None:
    with open("/dev/full", "wb") as full:
        result = python("-m", "baseload", "version", stdout=full.fileno())

    assert (result.returncode, result.stderr) == (
        2,
        b"Error: the output cannot be written: No space left on device\n",
    )


@pytest.mark.long
def test_ctrl_c_stops_a_running_command_without_a_traceback() -> None:
    code = """
import signal, sys
from baseload.cli.main import main
from tests.cli.probes import PROBES
signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's background jobs, and their children, ignore it
sys.exit(main(["slow"], group=PROBES))
"""
    with subprocess.Popen([sys.executable, "-c", code], stderr=subprocess.PIPE) as process:
        assert process.stderr is not None
        assert process.stderr.readline() == b"started\n"
        process.send_signal(signal.SIGINT)

        assert process.stderr.read() == b"baseload: interrupted\n"
    assert process.returncode == 130


@pytest.mark.parametrize("arguments", [["--help"], ["plan", "provision", "--help"], ["--version"]])
def test_help_that_cannot_be_written_ends_with_2_and_no_traceback(arguments: list[str]) -> None:
    with open("/dev/full", "wb") as full:
        result = python("-m", "baseload", *arguments, stdout=full.fileno())

    assert (result.returncode, result.stderr) == (
        2,
        b"Error: the output cannot be written: No space left on device\n",
    )


def shell(command: str) -> "subprocess.CompletedProcess[bytes]":
    """A command line in which `baseload` stands for the program."""
    return subprocess.run(
        ["sh", "-c", command.replace("baseload", f"{sys.executable} -m baseload", 1)], capture_output=True, check=False
    )


def test_a_closed_stdout_ends_with_2() -> None:
    result = shell("baseload version >&-")

    assert (result.returncode, result.stderr) == (
        2,
        b"Error: the output cannot be written: stdout is closed\n",
    )


@pytest.mark.parametrize("where", ["2>&-", "2>/dev/full"])
def test_a_stderr_that_cannot_be_written_changes_neither_status_nor_output(where: str) -> None:
    assert shell(f"baseload plan provision -f absent.yaml {where}").returncode == 2
    listed = shell(f"baseload catalog list --limit 1 {where}")
    assert (listed.returncode, listed.stdout.splitlines()[0].split()[0]) == (0, b"NAME")


def test_a_closed_stdin_is_bad_input() -> None:
    result = shell("baseload plan provision -f - <&-")

    assert (result.returncode, result.stderr) == (2, b"stdin: cannot be read: it is closed\n")


def test_a_completion_that_no_script_asked_for_is_wrong_usage() -> None:
    result = python("-m", "baseload", _BASELOAD_COMPLETE="bash_complete")

    assert (result.returncode, result.stdout) == (2, b"")
    assert result.stderr.startswith(b"Error: _BASELOAD_COMPLETE is for the scripts")


def test_control_characters_in_a_name_do_not_reach_the_terminal(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    file = tmp_path / "pod.json"
    file.write_text('{"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "a\\u001b[31m\\u202e\\nb"}}')

    assert main(["plan", "provision", "-f", str(file)]) == 2
    error = capsys.readouterr().err
    assert error.replace("\n", "").isprintable()
    assert "\\x1b[31m\\u202e" in error
