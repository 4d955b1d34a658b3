"""The expert's dictionary: concepts and their variants in any language, read from a YAML or CSV file.

A file is a list of rows with four fields; a CSV file has them as columns, a YAML file as keys:

    concept   the concept's name, one per meaning
    language  ISO 639-1 code of the variants
    variants  words or phrases; in CSV separated by semicolons, in YAML a list (or such a text)
    weight    `primary` (default): another word for the same thing; `secondary`: a hint that it may be meant

    concept,language,variants,weight
    premium,en,premium;insurance premium,primary
    premium,fr,prime;cotisation,primary
    premium,en,contribution,secondary
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Iterator
from importlib.resources import files
from pathlib import Path
from typing import Any, Literal, Self, get_args

from pydantic import BaseModel, ConfigDict

from arbiter_rag.contract import Keyword
from arbiter_rag.errors import InputError
from arbiter_rag.language import LANGUAGES, Analyzer, analyzer

FIELDS = ("concept", "language", "variants", "weight")
WEIGHTS = {"primary": 1.0, "secondary": 0.5}
ShippedLexicon = Literal["insurance", "finance"]
_SUFFIXES = {".csv": "CSV", ".yaml": "YAML", ".yml": "YAML"}


class Variant(BaseModel):
    """One way to say a concept.

    Attributes:
        text: The word or phrase.
        language: ISO 639-1 code.
        weight: 1.0 primary, 0.5 secondary.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    text: str
    language: str
    weight: float = 1.0


class Concept(BaseModel):
    """One meaning and every way to say it, primary variants first as the file lists them."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: str
    variants: tuple[Variant, ...]


class Lexicon(BaseModel):
    """A dictionary of concepts; `parse_question` brings all variants of each concept that a question names."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    concepts: tuple[Concept, ...] = ()

    @classmethod
    def load(cls, path: str | Path) -> Self:
        """Read a lexicon file (`.csv`, `.yaml` or `.yml`; the format is this module's docstring).

        Raises:
            InputError: There is no such file, it cannot be read, or a line of it is not as described.
        """
        file = Path(path)
        text = _read(file)
        form = _SUFFIXES.get(file.suffix.lower())
        if form is None:
            raise InputError(
                f"Expected a lexicon file ending in .csv, .yaml or .yml, got {file}; save it as one of these."
            )
        return cls._from_rows(_rows(text, form, str(file)), str(file))

    @classmethod
    def shipped(cls, name: ShippedLexicon) -> Self:
        """One of the two small examples that come with the library, in English and French.

        Raises:
            InputError: There is none of that name.
        """
        if name not in get_args(ShippedLexicon):
            raise InputError(f"Expected one of the shipped lexicons insurance and finance, got {name!r}; "
                             "use Lexicon.load for a file of your own.")  # fmt: skip
        text = files("arbiter_rag").joinpath("lexicons", f"{name}.csv").read_text(encoding="utf-8")
        return cls._from_rows(_rows(text, "CSV", name), name)

    @classmethod
    def _from_rows(cls, rows: Iterable[tuple[int, dict[str, Any]]], source: str) -> Self:
        gathered: dict[str, dict[tuple[str, str], Variant]] = {}
        for line, row in rows:
            name, variants = _checked(row, f"{source}, line {line}")
            known = gathered.setdefault(name, {})
            for variant in variants:
                earlier = known.get((variant.language, variant.text.casefold()))
                if earlier is None or earlier.weight < variant.weight:
                    known[variant.language, variant.text.casefold()] = variant
        if not gathered:
            raise InputError(f"Expected at least one concept in {source}, got none; add rows with {', '.join(FIELDS)}.")
        return cls(
            concepts=tuple(
                Concept(name=name, variants=tuple(sorted(known.values(), key=lambda v: -v.weight)))
                for name, known in gathered.items()
            )
        )

    def expand(self, text: str, keywords: list[Keyword], language: str) -> list[Keyword]:
        """A question's keywords with all variants of every concept that the question names.

        The question's own words for a concept join that concept instead of standing for themselves: a document that
        says it otherwise does not lack them.
        """
        named = self._named(text)
        if not named:
            return keywords
        own = analyzer(language)
        kept: list[Keyword] = []
        for keyword in keywords:
            terms = set(own.terms(keyword.text))
            covering = [(concept, said) for concept, said in named if terms <= set(own.terms(said))]
            if not covering:
                kept.append(keyword)
            elif keyword.source == "phrase":
                kept.append(keyword.model_copy(update={"concept": covering[0][0].name}))
        for concept, said in named:
            kept.extend(_variants_of(concept, said))
        return kept

    def _named(self, text: str) -> list[tuple[Concept, str]]:
        """The concepts a text names, each with the words that name it; of overlapping ones only the longest."""
        languages = dict.fromkeys(v.language for concept in self.concepts for v in concept.variants)
        found: list[tuple[int, int, int, Concept]] = []
        for language in languages:
            sought = analyzer(language)
            places = _places(sought, text)
            for order, concept in enumerate(self.concepts):
                for variant in concept.variants:
                    if variant.language == language:
                        found.extend((a, b, order, concept) for a, b in _find(sought, variant.text, places))
        longest = [
            (a, b, order, concept)
            for a, b, order, concept in found
            if not any(c <= a and b <= d and d - c > b - a for c, d, _, _ in found)
        ]
        first: dict[str, tuple[Concept, str]] = {}
        for a, b, _, concept in sorted(longest, key=lambda item: (item[0], -item[1], item[2])):
            first.setdefault(concept.name, (concept, text[a:b]))
        return list(first.values())


def _variants_of(concept: Concept, said: str) -> Iterator[Keyword]:
    """The question's own words first, then every other variant."""
    yield Keyword(text=said, concept=concept.name)
    for variant in concept.variants:
        if variant.text.casefold() != said.casefold():
            source = f"lexicon:{concept.name}"
            yield Keyword(text=variant.text, weight=variant.weight, source=source, concept=concept.name)


_Place = tuple[str, int, int]


def _places(analysis: Analyzer, text: str) -> list[_Place]:
    """Content terms with their places; compounds by their parts, so that "short-term" is said by "short term" too."""
    tokens = [token for token in analysis.tokens(text) if not analysis.is_stop(token.term)]
    return [
        (token.term, token.start, token.end)
        for at, token in enumerate(tokens)
        if at + 1 == len(tokens) or not _holds_next(token.start, token.end, tokens[at + 1].start, tokens[at + 1].end)
    ]


def _holds_next(start: int, end: int, next_start: int, next_end: int) -> bool:
    return start <= next_start and next_end <= end


def _find(analysis: Analyzer, variant: str, places: list[_Place]) -> Iterator[tuple[int, int]]:
    """Where a variant stands in a text, as offsets."""
    terms = [term for term, _, _ in _places(analysis, variant)]
    if not terms:
        return
    for at in range(len(places) - len(terms) + 1):
        if all(places[at + k][0] == term for k, term in enumerate(terms)):
            yield places[at][1], places[at + len(terms) - 1][2]


def _read(file: Path) -> str:
    try:
        data = file.read_bytes()
    except FileNotFoundError:
        raise InputError(f"Expected a lexicon file, got {file}, which does not exist; check the path.") from None
    except IsADirectoryError:
        raise InputError(f"Expected a lexicon file, got the folder {file}; name the file in it.") from None
    except OSError as error:
        raise InputError(
            f"Expected a readable lexicon file, got {file}: {error.strerror}; check its permissions."
        ) from error
    if b"\0" in data:
        raise InputError(f"Expected a text file, got binary data in {file}; export the lexicon as CSV or YAML.")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise InputError(
            f"Expected UTF-8 text in {file}, got another encoding on line {line}; save it as UTF-8."
        ) from None


def _rows(text: str, form: str, source: str) -> Iterator[tuple[int, dict[str, Any]]]:
    return _csv_rows(text, source) if form == "CSV" else _yaml_rows(text, source)


def _csv_rows(text: str, source: str) -> Iterator[tuple[int, dict[str, Any]]]:
    reader = csv.DictReader(io.StringIO(text, newline=""), strict=True)
    try:
        columns = [name.strip().lower() for name in reader.fieldnames or ()]
        _check_names(columns, f"{source}, line 1", "columns")
        reader.fieldnames = columns
        for row in reader:
            where = f"{source}, line {reader.line_num}"
            if None in row or any(value is None for key, value in row.items() if key in FIELDS[:3]):
                raise InputError(f"Expected {len(columns)} values as the first line names them, got another number in "
                                 f"{where}; quote values that contain commas.")  # fmt: skip
            yield reader.line_num, dict(row)
    except csv.Error as error:
        raise InputError(f"Expected CSV, got {error} in {source}, line {reader.line_num}; check the quotes.") from None


def _yaml_rows(text: str, source: str) -> Iterator[tuple[int, dict[str, Any]]]:
    import yaml  # here, because most users have no lexicon

    try:
        yield from _yaml_nodes(yaml.SafeLoader(text), yaml.SequenceNode, source)
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        line = mark.line + 1 if mark else text.count("\n", 0, getattr(error, "position", 0)) + 1
        problem = getattr(error, "problem", None) or getattr(error, "reason", None) or "text that is none"
        raise InputError(
            f"Expected YAML, got {problem} in {source}, line {line}; check indentation and quotes."
        ) from None
    except RecursionError:
        raise InputError(f"Expected a list of rows in {source}, got deep nesting; write one row per dash.") from None


def _yaml_nodes(loader: Any, sequence: type, source: str) -> Iterator[tuple[int, dict[str, Any]]]:
    """Rows with their lines, which plain loading would lose."""
    root = loader.get_single_node()
    if not isinstance(root, sequence):
        got = "nothing" if root is None else _kind(root.tag)
        raise InputError(
            f"Expected a list of rows with {', '.join(FIELDS)} in {source}, got {got}; start each row with a dash."
        )
    for node in root.value:  # type: ignore[attr-defined]  # the node class is a parameter: yaml is imported lazily
        line = node.start_mark.line + 1
        row = loader.construct_object(node, deep=True)
        if not isinstance(row, dict):
            raise InputError(
                f"Expected a row with {', '.join(FIELDS)} in {source}, line {line}, got {_kind(node.tag)}; "
                "write one key and value a line."
            )
        row = {str(key).strip().lower(): value for key, value in row.items()}
        _check_names(list(row), f"{source}, line {line}", "keys")
        yield line, row


def _kind(tag: str) -> str:
    """What a YAML node is, for a person: tag:yaml.org,2002:map -> map."""
    return tag.rpartition(":")[2]


def _check_names(names: list[str], where: str, kind: str) -> None:
    missing = [name for name in FIELDS[:3] if name not in names]
    unknown = [name for name in names if name not in FIELDS]
    if missing or unknown:
        got = f"no {', '.join(missing)}" if missing else f"unknown {', '.join(map(repr, unknown))}"
        raise InputError(f"Expected the {kind} {', '.join(FIELDS)} (weight may be left out), got {got} in {where}; "
                         "rename or add them.")  # fmt: skip


def _checked(row: dict[str, Any], where: str) -> tuple[str, list[Variant]]:
    values = [value for field, value in row.items() if field != "variants"]
    values += row["variants"] if isinstance(row.get("variants"), list) else [row.get("variants")]
    if any(isinstance(value, (list, dict)) for value in values):
        raise InputError(f"Expected words and phrases, got a list within a value in {where}; write them one by one.")
    name, language = (str(row.get(field) or "").strip() for field in ("concept", "language"))
    weight = str(row.get("weight") or "primary").strip().lower()
    raw = row.get("variants")
    texts = [str(v).strip() for v in (raw if isinstance(raw, list) else str(raw or "").split(";"))]
    texts = [text for text in texts if text]
    if not name or not texts:
        raise InputError(f"Expected a concept and at least one variant, got an empty value in {where}; fill it in.")
    if language.lower() not in LANGUAGES:
        raise InputError(
            f"Expected a language of {', '.join(LANGUAGES)}, got {language!r} in {where}; use one of these."
        )
    if weight not in WEIGHTS:
        raise InputError(f"Expected the weight primary or secondary, got {weight!r} in {where}; use one of these.")
    return name, [Variant(text=text, language=language.lower(), weight=WEIGHTS[weight]) for text in texts]
