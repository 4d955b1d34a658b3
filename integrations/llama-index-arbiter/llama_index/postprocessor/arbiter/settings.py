"""Settings as people pass them, checked when they are passed: one error that names the setting and what it takes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from numbers import Integral
from typing import Any, Literal

from llama_index.core.base.base_retriever import BaseRetriever
from pydantic import ValidationError

from arbiter_rag.contract import Verdict
from arbiter_rag.errors import InputError

Roles = tuple[Verdict, ...]
OnNotFound = Literal["empty", "keep"]
Retrievers = Sequence[BaseRetriever] | Mapping[str, BaseRetriever]

ROLES: Roles = ("primary", "supporting", "tangential", "unjudged")


def roles_of(names: Sequence[str]) -> Roles:
    """Roles that may come out, checked.

    Raises:
        InputError: One is none of these, or there is none.
    """
    given = list(names) if isinstance(names, list | tuple | set | frozenset) else []
    if not given or any(name not in ROLES for name in given):
        raise InputError(f"roles= takes a list of some of {', '.join(ROLES)}; got {names!r}.")
    return tuple(role for role in ROLES if role in given)


def on_not_found_of(name: str) -> OnNotFound:
    """What happens on "not found", checked.

    Raises:
        InputError: It is none of the two.
    """
    if name == "empty":
        return "empty"
    if name == "keep":
        return "keep"
    raise InputError(f"on_not_found= takes 'empty' or 'keep'; got {name!r}.")


def number_of(name: str, value: Any) -> int:
    """A number of nodes or tokens, checked.

    Raises:
        InputError: It is no whole number, or less than one.
    """
    if isinstance(value, bool) or not isinstance(value, Integral) or value < 1:
        raise InputError(f"{name}= takes a whole number, at least 1; got {value!r}.")
    return int(value)


def retrievers_of(given: Retrievers) -> dict[str, BaseRetriever]:
    """Retrievers by the name that is kept as their nodes' method.

    Raises:
        InputError: There is none, one is no retriever, or a name is no text.
    """
    takes = "retrievers= takes a list of retrievers, such as [index.as_retriever()], or a dict of name -> retriever"
    if isinstance(given, str) or not isinstance(given, Sequence | Mapping):
        raise InputError(f"{takes}; got {_named(given)}: put it into a list.")
    each = list(given.values()) if isinstance(given, Mapping) else list(given)
    if not each:
        raise InputError("At least one retriever was expected, none came.")
    for retriever in each:
        if isinstance(retriever, type) or not callable(getattr(retriever, "aretrieve", None)):
            raise InputError(f"{takes}; got {_named(retriever)} as one of them.")
    if not isinstance(given, Mapping):
        return _by_own_name(each)
    for name in given:
        if not isinstance(name, str) or not name.strip():
            raise InputError(f"{takes}; got {name!r} as a name: give each a text, such as 'bm25'.")
    return dict(given)


def _by_own_name(retrievers: Sequence[BaseRetriever]) -> dict[str, BaseRetriever]:
    named: dict[str, BaseRetriever] = {}
    for retriever in retrievers:
        own = getattr(retriever, "method", None)
        name = own if isinstance(own, str) else type(retriever).__name__
        taken = sum(known == name or known.startswith(f"{name}-") for known in named)
        named[f"{name}-{taken + 1}" if taken else name] = retriever
    return named


def refused(error: ValidationError) -> InputError:
    """Pydantic's error as one of ours: each setting, what it takes, what came."""
    faults = []
    for fault in error.errors():
        where = "".join(f"{part}=" for part in fault["loc"][:1])
        said = fault["msg"].removeprefix("Value error, ")
        faults.append(
            said if fault["type"] == "value_error" else f"{where} cannot be used: {said}; got {_named(fault['input'])}."
        )
    return InputError(" ".join(faults))


def _named(value: object) -> str:
    """A plain value as it is; of an object its class: its repr may be long, or hold a key."""
    return repr(value) if value is None or isinstance(value, str | int | float) else f"a {type(value).__name__}"
