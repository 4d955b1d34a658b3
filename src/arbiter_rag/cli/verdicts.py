"""A result as text for a person: the verdicts in a table, then what else must be known about it."""

from __future__ import annotations

import re

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from arbiter_rag.cli.inspect import page_name
from arbiter_rag.cli.terminal import harmless
from arbiter_rag.contract import CandidateScope, Conflict, RetrievalResult, RetrievedCandidate

_LEADERS = re.compile(r"(?:[.\u00b7\u2026]\s*){4,}")
_SHOWN = 240
"""Characters of a snippet that are shown where no quote says it shorter."""

_STYLE = {"primary": "bold green", "supporting": "cyan", "tangential": "yellow", "unjudged": "magenta"}


def show(result: RetrievalResult, out: Console, *, hidden: int = 0) -> None:
    """Print a result.

    Args:
        result: What was retrieved.
        out: Where to.
        hidden: How many kept candidates were left out on the user's wish.
    """
    if result.not_found:
        out.print(Text("Not found. ", style="bold red") + Text(harmless(result.not_found_reason or "")))
        _show_near_misses(result, out)
    listed = (*result.candidates, *result.unjudged)
    if listed:
        out.print(_table(result, listed))
    for conflict in result.conflicts:
        _show_conflict(conflict, out)
    for line in _remarks(result, hidden):
        out.print(Text(line, style="dim"))


def _table(result: RetrievalResult, listed: tuple[RetrievedCandidate, ...]) -> Table:
    names = {d.doc_id: d.name for d in result.documents} if len(result.documents) > 1 else {}
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, show_lines=True, header_style="bold", expand=False)
    table.add_column("#", justify="right", no_wrap=True)
    table.add_column("Role", no_wrap=True)
    table.add_column("Where", max_width=34, overflow="fold")
    table.add_column("Why", overflow="fold")
    for candidate in listed:
        table.add_row(
            str(candidate.rank),
            Text(candidate.role, style=_STYLE.get(candidate.role, "")),
            _where(candidate, names.get(candidate.doc_id or "")),
            _why(candidate),
        )
    return table


def _where(candidate: RetrievedCandidate, document: str | None) -> Text:
    lines = [harmless(document)] if document else []
    if candidate.anchor:
        page = page_name(candidate.anchor.page_start, candidate.page_label)
        lines.append(f"page {page}, {_line_name(candidate.anchor, labelled='(PDF ' in page)}")
    if candidate.breadcrumb or candidate.section_title:
        lines.append(harmless(candidate.breadcrumb or candidate.section_title or ""))
    return Text("\n".join(lines))


def _line_name(anchor: CandidateScope, *, labelled: bool) -> str:
    if anchor.page_start != anchor.page_end:
        page = f"{'PDF ' if labelled else ''}page {anchor.page_end}"
        return f"line {anchor.line_start} to {page}, line {anchor.line_end}"
    if anchor.line_start == anchor.line_end:
        return f"line {anchor.line_start}"
    return f"lines {anchor.line_start}-{anchor.line_end}"


def _why(candidate: RetrievedCandidate) -> Text:
    why = Text(harmless(candidate.reason))
    if candidate.demoted_from:
        why.append(f" (the judge said {candidate.demoted_from})", style="yellow")
    if candidate.quote:
        why.append(f'\n"{_one_line(candidate.quote)}"', style="italic")
        if candidate.quote_status not in ("exact", "folded"):
            why.append(f" (quote {candidate.quote_status})", style="yellow")
    elif candidate.snippet:
        why.append("\n" + _short(candidate.snippet), style="dim")
    if candidate.unsupported:
        why.append(f"\nnot in the passage: {harmless(', '.join(candidate.unsupported))}", style="yellow")
    if candidate.suspicious:
        why.append(f'\nthe passage addresses the judge: "{_one_line(candidate.suspicious[0])}"', style="red")
    return why


def _short(snippet: str) -> str:
    text = _one_line(snippet)
    return text if len(text) <= _SHOWN else text[:_SHOWN].rsplit(" ", 1)[0] + " \u2026"


def _one_line(text: str) -> str:
    return harmless(" ".join(_LEADERS.sub("\u2026 ", text).split()))


def _show_conflict(conflict: Conflict, out: Console) -> None:
    out.print(Text("Conflict: ", style="bold red") + Text(harmless(conflict.reason)))
    for side in conflict.sides:
        quote = f': "{_one_line(side.quote)}"' if side.quote else ""
        out.print(Text(f"  {harmless(side.candidate_id)}{quote}"))


def _show_near_misses(result: RetrievalResult, out: Console) -> None:
    for miss in result.coverage.near_misses[:3]:
        place = ", ".join(filter(None, (f"page {miss.page}" if miss.page else "", harmless(miss.section or ""))))
        out.print(Text(f"  near miss: {place}: {harmless(miss.why)}", style="dim"))


def _remarks(result: RetrievalResult, hidden: int) -> list[str]:
    searched = f"{result.coverage.pages} pages searched by {', '.join(result.methods_used) or 'nothing'}"
    remarks = [f"{searched}; judged by {harmless(result.judge)}; {len(result.discarded)} discarded (--json shows why)."]
    if hidden:
        remarks.append(f"{hidden} more kept (--top-n).")
    if result.coverage.pages_without_text:
        remarks.append(f"{len(result.coverage.pages_without_text)} pages hold no text and could not be searched.")
    if result.cut:
        remarks.append(f"{len(result.cut)} candidates never reached the judge: {harmless(result.cut[0].why)}")
    if result.status != "ok":
        remarks.append(f"Status {result.status}: {_one_line(result.error or _fault_line(result))}")
    remarks += [harmless(note) for note in result.coverage.notes]
    return remarks


def _fault_line(result: RetrievalResult) -> str:
    if result.faults:
        more = f" (and {len(result.faults) - 1} more)" if len(result.faults) > 1 else ""
        return f"{result.faults[0].detail}{more}"
    return f"{len(result.unjudged)} left unjudged" if result.unjudged else "see --json"
