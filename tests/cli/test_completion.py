"""Completion by the user's shell, installed and used as a user does: on a terminal, with Tab."""

import os
import shutil
import sys
from contextlib import suppress
from pathlib import Path

import pytest

SRC = Path(__file__).resolve().parents[2] / "src"
START = {
    "bash": ["-i"],
    "zsh": ["-i"],
    "fish": ["-i", "-C", "function fish_prompt; echo 'ready> '; end; function fish_greeting; end"],
}
SETTINGS = {".bashrc": "PS1='ready> '\n", ".zshrc": "PS1='ready> '; unsetopt ZLE_REMOVE_SUFFIX_CHARS\n"}


@pytest.fixture(params=START)
def shell(request, tmp_path):
    """Start a shell whose home is empty but for a prompt, where `clew` is a command."""
    pexpect = pytest.importorskip("pexpect", reason="needs a pseudo terminal")
    name, home, programs = request.param, tmp_path / "home", tmp_path / "bin"
    if shutil.which(name) is None:
        pytest.skip(f"{name} is not installed")
    for folder in (home, programs):
        folder.mkdir()
    for file, text in SETTINGS.items():
        (home / file).write_text(text)
    program = programs / "clew"
    program.write_text(f"#!{sys.executable}\nfrom clew.cli import main\nmain()\n")
    program.chmod(0o755)
    (tmp_path / "films.tsv").write_text("a\tb\tc\n")
    environment = os.environ | {
        "HOME": str(home),
        "PATH": f"{programs}{os.pathsep}{os.environ['PATH']}",
        "PYTHONPATH": str(SRC),
        "TERM": "xterm",
    }
    for other in ("XDG_CONFIG_HOME", "XDG_DATA_HOME", "ZDOTDIR", "BASH_ENV"):
        environment.pop(other, None)
    started = []

    def start():
        child = pexpect.spawn(name, START[name], env=environment, encoding="utf-8", timeout=60, use_poll=True)
        child.waited_too_long = pexpect.TIMEOUT
        started.append(child)
        child.expect_exact("ready>")
        return child

    yield start
    for child in started:
        child.close(force=True)


def completed(child, typed, whole):
    """Type the beginning of a word, press Tab, and wait for the word.

    zsh loads what was installed with the first Tab, and completes with the next.
    """
    child.send(typed)
    for _ in range(3):
        child.send("\t")
        with suppress(child.waited_too_long):
            return child.expect_exact(whole, timeout=10)
    pytest.fail(f"{typed!r} was not completed to {whole}, but: {child.buffer!r}")


def test_a_shell_completes_commands_options_values_and_files(shell):
    first = shell()
    first.send("clew --install-completion\r")
    first.expect_exact("completion installed")
    first.expect_exact("ready>")
    first.sendline("exit")
    child = shell()
    completed(child, "clew verif", "verify")
    completed(child, "fil", "films.tsv")
    completed(child, " --closed", "closed-world")
    completed(child, " --meth", "--method")
    completed(child, " simg", "simgrag")
