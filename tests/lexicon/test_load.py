"""Lexicon files: both formats, the shipped examples, and errors that name the line and the remedy."""

from __future__ import annotations

import contextlib
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from arbiter_rag.errors import InputError
from arbiter_rag.lexicon import Concept, Lexicon, Variant

CSV = """concept,language,variants,weight
turbine,en,turbine;wind turbine,primary
turbine,fr,éolienne,
turbine,en,"rotor, three-bladed",secondary
"""
YAML = """
- concept: turbine
  language: en
  variants: [turbine, wind turbine]
- {concept: turbine, language: fr, variants: éolienne, weight: primary}
- concept: turbine
  language: en
  variants:
    - rotor, three-bladed
  weight: secondary
"""
TURBINE = Concept(
    name="turbine",
    variants=(
        Variant(text="turbine", language="en"),
        Variant(text="wind turbine", language="en"),
        Variant(text="éolienne", language="fr"),
        Variant(text="rotor, three-bladed", language="en", weight=0.5),
    ),
)


@pytest.mark.parametrize(
    ("name", "text"), [("a.csv", CSV), ("a.yaml", YAML), ("a.YML", YAML), ("bom.csv", "\ufeff" + CSV)]
)
def test_both_formats_say_the_same(tmp_path: Path, name: str, text: str) -> None:
    file = tmp_path / name
    file.write_text(text, encoding="utf-8")
    assert Lexicon.load(file).concepts == (TURBINE,)
    assert Lexicon.load(str(file)).concepts == (TURBINE,)


def test_a_variant_given_twice_keeps_its_greater_weight(tmp_path: Path) -> None:
    file = tmp_path / "a.csv"
    file.write_text("concept,language,variants,weight\na,en,x,secondary\na,en,X,primary\n", encoding="utf-8")
    assert [v.weight for v in Lexicon.load(file).concepts[0].variants] == [1.0]


@pytest.mark.parametrize("name", ["insurance", "finance"])
def test_shipped_lexicons_are_bilingual(name: str) -> None:
    lexicon = Lexicon.shipped(name)  # type: ignore[arg-type]  # a str of the two names
    assert all({v.language for v in concept.variants} <= {"en", "fr"} for concept in lexicon.concepts)
    both = [c for c in lexicon.concepts if {v.language for v in c.variants} == {"en", "fr"}]
    assert len(both) >= 25
    assert all(any(v.weight == 1.0 for v in concept.variants) for concept in lexicon.concepts)


def test_there_are_two_shipped_lexicons() -> None:
    with pytest.raises(InputError, match="insurance and finance, got 'legal'"):
        Lexicon.shipped("legal")  # type: ignore[arg-type]  # what the test is about


HEAD = b"concept,language,variants,weight\n"
UNUSABLE = [
    ("a.csv", b"", "line 1"),
    ("a.csv", b"concept,language\nx,en\n", "no variants .* line 1"),
    ("a.csv", b"concept,language,variants,colour\nx,en,a,red\n", "unknown 'colour' .* line 1"),
    ("a.csv", HEAD, "at least one concept"),
    ("a.csv", HEAD + b"x,en,a,primary,b\n", "line 2"),
    ("a.csv", HEAD + b"x,en\n", "line 2"),
    ("a.csv", HEAD + b"x,en,a,primary\nx,xx,a,primary\n", "'xx' .* line 3"),
    ("a.csv", HEAD + b"x,en,a,strong\n", "'strong' .* line 2"),
    ("a.csv", HEAD + b"x,en,;,primary\n", "line 2"),
    ("a.csv", HEAD + b'"x,en,a,primary\n', "line"),
    ("a.csv", HEAD + b"x,fr,\xe9t\xe9,primary\n", "UTF-8 .* line 2"),
    ("a.csv", b"%PDF-1.7\n\x00\x01", "binary"),
    ("a.yaml", b"\x89PNG\x00", "binary"),
    ("a.yaml", b"", "got nothing"),
    ("a.yaml", b"concept: x", "got map"),
    ("a.yaml", b"- x\n", "line 1, got str"),
    ("a.yaml", b"- concept: x\n  language: en\n  variants: [a]\n- concept: y\n", "line 4"),
    ("a.yaml", b"- concept: x\n  language: en\n  variants: [[a]]\n", "a list within a value .* line 1"),
    ("a.yaml", b"- concept: [x\n  y", "line"),
    ("a.yaml", b"- !!python/object/apply:os.getcwd []\n", "line 1"),
    ("a.yaml", b"- &a [*a]\n", "line 1"),
    ("a.yaml", b"[" * 5000, "deep nesting|line 1"),
    ("a.yaml", b"- \x01\n", "line 1"),
    ("a.json", b"[]", "ending in .csv, .yaml or .yml"),
]


@pytest.mark.parametrize(("name", "content", "message"), UNUSABLE, ids=range(len(UNUSABLE)))
def test_an_unusable_file_is_refused_with_its_line(tmp_path: Path, name: str, content: bytes, message: str) -> None:
    file = tmp_path / name
    file.write_bytes(content)
    with pytest.raises(InputError, match=message):
        Lexicon.load(file)


def test_missing_files_and_folders_are_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="does not exist"):
        Lexicon.load(tmp_path / "none.csv")
    with pytest.raises(InputError, match="folder"):
        Lexicon.load(tmp_path)


@settings(deadline=None)
@given(st.binary(max_size=200) | st.text(max_size=200).map(str.encode), st.sampled_from([".csv", ".yaml"]))
def test_any_file_is_a_lexicon_or_an_input_error(
    tmp_path_factory: pytest.TempPathFactory, content: bytes, suffix: str
) -> None:
    file = tmp_path_factory.mktemp("any") / f"a{suffix}"
    file.write_bytes(content)
    with contextlib.suppress(InputError):
        Lexicon.load(file)
