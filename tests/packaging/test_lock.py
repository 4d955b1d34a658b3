"""The lock, what plain pip gets of it, and what the distributions say of themselves."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

CORE = "arbiter-rag"
ROOT = Path(__file__).resolve().parents[2]
PROJECTS = (ROOT, ROOT / "integrations" / "langchain-arbiter", ROOT / "integrations" / "llama-index-arbiter")


def _toml(path: Path) -> dict[str, Any]:
    return tomllib.loads(path.read_text(encoding="utf-8"))


def _urls(value: object) -> list[str]:
    if isinstance(value, dict):
        own = [v for k, v in value.items() if k in ("url", "registry")]
        return own + [u for v in value.values() for u in _urls(v)]
    return [u for v in value for u in _urls(v)] if isinstance(value, list) else []


def test_lock_names_only_the_public_index() -> None:
    hosts = {(urlsplit(url).scheme, urlsplit(url).hostname) for url in _urls(_toml(ROOT / "uv.lock"))}
    assert hosts == {("https", "pypi.org"), ("https", "files.pythonhosted.org")}


def test_plain_pip_gets_the_versions_of_the_lock() -> None:
    locked = {(p["name"], p["version"]) for p in _toml(ROOT / "uv.lock")["package"] if "registry" in p["source"]}
    lines = (ROOT / "constraints.txt").read_text(encoding="utf-8").splitlines()
    pins = {tuple(line.split(";")[0].strip().split("==")) for line in lines if line and not line.startswith("#")}
    assert pins <= locked
    assert {name for name, _ in locked} == {name for name, _ in pins}


@pytest.mark.parametrize("folder", PROJECTS, ids=lambda p: p.name)
def test_distributions_agree(folder: Path) -> None:
    project = _toml(folder / "pyproject.toml")["project"]
    core = _toml(ROOT / "pyproject.toml")["project"]
    assert project["version"] == core["version"]
    assert project["requires-python"] == core["requires-python"] == ">=3.11"
    assert project["license"] == "Apache-2.0"
    assert (folder / "LICENSE").read_bytes() == (ROOT / "LICENSE").read_bytes()


def test_all_is_every_extra() -> None:
    extras = _toml(ROOT / "pyproject.toml")["project"]["optional-dependencies"]
    (everything,) = extras["all"]
    named = re.search(r"\[(.+)\]", everything)
    assert named is not None
    assert set(named[1].split(",")) == set(extras) - {"all"}


def test_llama_index_namespaces_have_no_init() -> None:
    top = ROOT / "integrations" / "llama-index-arbiter" / "llama_index"
    above = [top / "__init__.py", *(top / kind / "__init__.py" for kind in ("retrievers", "postprocessor"))]
    assert [path for path in above if path.exists()] == []
    hub = _toml(top.parent / "pyproject.toml")["tool"]["llamahub"]
    assert hub["import_path"] == "llama_index.postprocessor.arbiter"


@pytest.mark.parametrize("folder", PROJECTS, ids=lambda p: p.name)
def test_lock_knows_what_the_distribution_asks_for(folder: Path) -> None:
    manifest = _toml(folder / "pyproject.toml")
    locked = next(p for p in _toml(ROOT / "uv.lock")["package"] if p["name"] == manifest["project"]["name"])["metadata"]
    extras = manifest["project"].get("optional-dependencies", {}).values()
    asked = [*manifest["project"]["dependencies"], *(r for extra in extras for r in extra)]
    assert _requirements(asked) == _requirements_of(locked["requires-dist"])
    groups = manifest.get("dependency-groups", {})
    assert set(groups) == set(locked.get("requires-dev", {}))
    for name, group in groups.items():
        assert _requirements(group) == _requirements_of(locked["requires-dev"][name])


def _requirements(lines: list[str]) -> set[tuple[str, frozenset[str]]]:
    parsed = [Requirement(line) for line in lines]
    # The workspace's own core is locked by path, without versions.
    return {(canonicalize_name(r.name), frozenset(map(str, r.specifier))) for r in parsed if r.name != CORE}


def _requirements_of(rows: list[dict[str, Any]]) -> set[tuple[str, frozenset[str]]]:
    asked = [(row["name"], row.get("specifier", "")) for row in rows if row["name"] != CORE]
    return {(name, frozenset(filter(None, specifier.split(",")))) for name, specifier in asked}
