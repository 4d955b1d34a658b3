"""A small policy as tables, for tests that need a document they can read whole."""

from __future__ import annotations

import pandas as pd

from arbiter_rag import ParsedDocument

PAGES = (
    (
        "Globex Home Policy",
        "This policy insures the home named in the schedule.",
        "1 Definitions",
        "Home means the building at the insured address.",
        "Deductible means the part of a loss that you carry yourself.",
        "2 Premium",
        "The annual premium is 480 euros.",
        "It is due on 1 January of each year.",
    ),
    (
        "Table 1: Deductibles by peril",
        "Peril\tDeductible\tLimit",
        "Fire\t250\t500,000",
        "Water\t400\t200,000",
        "Storm\t600\t200,000",
        "3 Exclusions",
        "We do not pay for:",
        "• damage by war or nuclear energy",
        "• wear and tear",
        "• damage by vermin",
    ),
    (
        "4 Termination",
        "Either party may end the contract with 30 days' notice.",
        "After a claim the notice period is 14 days.",
        "5 Complaints",
        "Write to the ombudsman within one year.",
    ),
)
TITLES = (("1 Definitions", 1), ("2 Premium", 1), ("3 Exclusions", 2), ("4 Termination", 3), ("5 Complaints", 3))


def policy(doc_id: str = "policy") -> ParsedDocument:
    """The policy: three pages, five numbered sections, a table and a list."""
    rows = [(p, n, text) for p, lines in enumerate(PAGES, 1) for n, text in enumerate(lines, 1)]
    toc = pd.DataFrame([(1, title, page) for title, page in TITLES], columns=["level", "title", "page"])
    return ParsedDocument.from_frames(pd.DataFrame(rows, columns=["page", "line", "text"]), toc, doc_id=doc_id)
