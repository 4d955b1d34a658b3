"""What the report's tests share: awkward documents, and decisions about them."""

from __future__ import annotations

from pathlib import Path

import pymupdf
import pytest

from arbiter_rag import Arbiter, ParsedDocument, RetrievalResult, samples
from arbiter_rag.audit import AuditLog, AuditRecord
from arbiter_rag.testing import ScriptedJudge

HOSTILE = (
    "Notice <script>alert(1)</script> period",
    "The notice period is 30 days <img src=x onerror=alert(2)> for all parties.",
    "</style></title><script src=http://evil.example/x.js></script> notice period.",
    "{{ 7 * 7 }} {% raw %} notice period \u202egnp.exe & javascript:alert(3)",
)
QUESTION = "What is the deductible for water damage?"


@pytest.fixture(scope="session")
def policy() -> ParsedDocument:
    """The sample policy, parsed."""
    return ParsedDocument.from_pdf(samples.path("policy_en"))


@pytest.fixture
def record(tmp_path: Path, policy: ParsedDocument) -> AuditRecord:
    """A recorded decision about the sample policy."""
    log = AuditLog(tmp_path / "audit.jsonl")
    return log.get(Arbiter(audit=log).retrieve(QUESTION, policy).record_id or "")


@pytest.fixture(scope="session")
def hostile_pdf(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A document full of markup, whose last page is turned."""
    path = tmp_path_factory.mktemp("hostile") / "a<b>&'\".pdf"
    with pymupdf.open() as document:
        page = document.new_page()
        for i, line in enumerate(HOSTILE):
            page.insert_text((72, 72 + 20 * i), line)
        for i in range(24):  # enough lines that each page is a candidate of its own
            page.insert_text((72, 170 + 20 * i), f"Paragraph {i} speaks of other matters and of nothing else.")
        turned = document.new_page()
        turned.insert_text((72, 90), "The period of notice on a turned page is 90 days and no more.")
        for i in range(24):
            turned.insert_text((72, 130 + 20 * i), f"Item {i} of the annex lists some further furniture.")
        turned.set_rotation(90)
        document.save(path)
    return path


@pytest.fixture(scope="session")
def hostile(hostile_pdf: Path) -> tuple[RetrievalResult, ParsedDocument]:
    """A decision about it by a judge that writes markup, too, and finds a conflict."""

    def reply(brief: object) -> dict[str, object]:
        ids = [c.candidate_id for c in brief.candidates]  # type: ignore[attr-defined]  # a Brief
        mark = "<b onclick=alert(4)>because</b>"
        quotes = ("The notice period is 30 days", "The period of notice on a turned page is 90 days")
        shown = [quotes[c.anchor.page_end - 1] for c in brief.candidates]  # type: ignore[attr-defined]  # as above
        rankings = [
            {"candidate_id": i, "reason": mark, "role": "primary", "quote": q} for i, q in zip(ids, shown, strict=True)
        ]
        sides = [{"candidate_id": i, "quote": q} for i, q in zip(ids, shown, strict=True)]
        return {"rankings": rankings, "conflicts": [{"reason": mark, "sides": sides}]}

    document = ParsedDocument.from_pdf(hostile_pdf, headings="none")
    judge = ScriptedJudge(reply, name="<i>judge</i>")  # type: ignore[arg-type]  # a Brief is an object
    question = "What is the <u>notice</u> period?"
    return Arbiter(judge, on_unverified="flag").retrieve(question, document), document
