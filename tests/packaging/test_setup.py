"""The set-up that make runs, where the machine lacks something."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


def _script(path: Path, text: str) -> None:
    path.write_text(f"#!/bin/sh\n{text}\n", encoding="utf-8")
    path.chmod(0o755)


@pytest.fixture
def machine(tmp_path: Path) -> Path:
    """A checkout that holds only the set-up script, and a path with only what each test puts there."""
    (tmp_path / "tools").mkdir()
    shutil.copy(ROOT / "tools" / "setup.sh", tmp_path / "tools")
    (tmp_path / "bin").mkdir()
    for name in ("sh", "dirname", "rm", "cut", "touch"):
        found = shutil.which(name)
        assert found is not None
        (tmp_path / "bin" / name).symlink_to(found)
    return tmp_path


def _set_up(machine: Path) -> subprocess.CompletedProcess[str]:
    environment = {"PATH": str(machine / "bin"), "HOME": str(machine)}
    command = [shutil.which("sh") or "sh", str(machine / "tools" / "setup.sh"), "run"]
    return subprocess.run(command, env=environment, capture_output=True, text=True, check=False)


def test_no_python_is_said(machine: Path) -> None:
    done = _set_up(machine)
    assert done.returncode == 1
    assert "Python 3.11 or newer is needed" in done.stderr


def test_an_old_python_is_said(machine: Path) -> None:
    _script(machine / "bin" / "python3", 'case "$1" in --version) echo Python 3.9.2;; *) exit 1;; esac')
    done = _set_up(machine)
    assert done.returncode == 1
    assert "Python 3.9.2" in done.stderr


def test_a_python_without_venv_is_said(machine: Path) -> None:
    _script(machine / "bin" / "python3", 'case "$2" in venv) /bin/mkdir .venv; exit 1;; *) exit 0;; esac')
    done = _set_up(machine)
    assert done.returncode == 1
    assert "apt install python3-venv" in done.stderr
    assert not (machine / ".venv").exists()


def test_uv_is_used_where_it_is(machine: Path) -> None:
    log = machine / "log"
    _script(machine / "bin" / "uv", f'echo "$@" >> {log}; /bin/mkdir -p .venv; echo uv 1.0')
    done = _set_up(machine)
    assert done.returncode == 0, done.stderr
    assert "sync --locked --inexact --no-dev --extra pdf" in log.read_text(encoding="utf-8")


def test_make_help_names_its_targets() -> None:
    make = shutil.which("make")
    if make is None:
        pytest.skip("make is not installed")
    environment = {k: v for k, v in os.environ.items() if not k.startswith("MAKE")}
    done = subprocess.run([make, "help"], cwd=ROOT, env=environment, capture_output=True, text=True, check=True)
    targets = {"demo", "test", "lint", "wheels", "bench", "lock", "samples", "local-llm", "clean"}
    assert targets <= {line.split()[1] for line in done.stdout.splitlines()}
