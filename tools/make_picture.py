"""Draws the README's picture, `docs/picture.svg`, from one real question about the sample policy."""

from __future__ import annotations

from html import escape
from pathlib import Path

from arbiter_rag import Arbiter, Brief, Candidate, ParsedDocument, RetrievalResult, samples
from arbiter_rag.fusion import reciprocal_rank_fusion

TARGET = Path(__file__).resolve().parents[1] / "docs" / "picture.svg"
QUESTION = "What is the deductible for water damage?"
COLOURS = {"primary": "#1b7837", "supporting": "#2166ac", "tangential": "#777777", "discarded": "#b2182b"}
DETECTORS = {"toc": "titles", "keyword": "keywords"}
ROWS = 6
WIDTH, HEIGHT = 920, 400


def text(x: float, y: float, said: str, *, size: int = 13, fill: str = "#222222", extra: str = "") -> str:
    """A line of text."""
    return f'<text x="{x}" y="{y}" font-size="{size}" fill="{fill}" {extra}>{escape(said)}</text>'


def box(x: float, y: float, width: float, height: float, *, fill: str = "#f4f6f8", edge: str = "#c5ccd3") -> str:
    """A box with round corners."""
    return f'<rect x="{x}" y="{y}" width="{width}" height="{height}" rx="6" fill="{fill}" stroke="{edge}"/>'


def arrow(x: float, y: float, to_x: float, to_y: float) -> str:
    """A line with a head."""
    line = f'<line x1="{x}" y1="{y}" x2="{to_x - 5}" y2="{to_y}" stroke="#8a949e" stroke-width="1.4"'
    return f'{line} marker-end="url(#head)"/>'


def fused(brief: Brief) -> list[str]:
    """Ids of the candidates as RRF orders them."""
    rankings = []
    for method in DETECTORS:
        best = {c.candidate_id: min(h.rank for h in c.hits if h.method == method) for c in _found_by(method, brief)}
        rankings.append(sorted(best, key=lambda candidate_id: best[candidate_id]))
    return [candidate_id for candidate_id, _ in reciprocal_rank_fusion(rankings)]


def proposing(brief: Brief) -> list[str]:
    """The left half: a question, who looks for passages, and what the judge reads."""
    parts = [
        box(20, 70, 150, 78),
        text(34, 96, "Question", extra='font-weight="bold"'),
        text(34, 116, "What is the deductible", size=11),
        text(34, 132, "for water damage?", size=11),
        box(20, 168, 150, 60),
        text(34, 194, "Document", extra='font-weight="bold"'),
        text(34, 214, "PDF, or your retrievers", size=11),
    ]
    for row, (method, name) in enumerate(DETECTORS.items()):
        y, found = 70 + 56 * row, sum(h.method == method for h in brief.hits)
        parts += [box(214, y, 120, 44), text(226, y + 19, name, extra='font-weight="bold"')]
        parts += [text(226, y + 35, f"{found} findings", size=11), arrow(334, y + 22, 372, 149)]
        parts.append(arrow(170, 109, 214, y + 22))
    parts += [box(214, 182, 120, 44), text(226, 201, "embeddings", extra='font-weight="bold"')]
    parts += [text(226, 217, "where configured", size=11), arrow(334, 204, 372, 149), arrow(170, 198, 214, 204)]
    parts += [
        box(374, 104, 124, 90, fill="#e8f0f8", edge="#2166ac"),
        text(388, 130, "One brief,", extra='font-weight="bold"'),
        text(388, 148, "one call", extra='font-weight="bold"'),
        text(388, 168, f"{len(brief.candidates)} candidates,", size=11),
        text(388, 183, "a few lines of each", size=11),
        arrow(498, 149, 534, 149),
    ]
    return parts


def deciding(result: RetrievalResult, brief: Brief) -> list[str]:
    """The right half: roles and reasons, with the place that fusion gave each."""
    order = fused(brief)
    parts = [text(536, 46, "role, section, reason"), text(866, 46, "RRF", extra='text-anchor="end"')]
    for row, c in enumerate(result.candidates[:ROWS]):
        y, colour = 62 + 43 * row, COLOURS[c.role]
        parts += [
            box(536, y, 364, 37, fill="#ffffff"),
            f'<rect x="536" y="{y}" width="5" height="37" fill="{colour}"/>',
            text(550, y + 15, c.role, size=12, fill=colour, extra='font-weight="bold"'),
            text(628, y + 15, c.section_title or f"page {c.page_label}", size=12),
            text(550, y + 30, _clipped(c.reason, 56), size=10, fill="#555555"),
            text(884, y + 23, str(order.index(c.candidate_id) + 1), fill="#8a949e", extra='text-anchor="end"'),
        ]
    return parts


def picture() -> str:
    """The picture as SVG."""
    policy, arbiter = ParsedDocument.from_pdf(samples.path("policy_en")), Arbiter()
    brief, result = arbiter.propose(QUESTION, policy), arbiter.retrieve(QUESTION, policy)
    below = [
        text(20, 352, "Checked: every id, every quote, every candidate accounted for.", size=12),
        text(
            20,
            374,
            "Out: passages with roles and reasons; or “not found” with what was searched; an audit record.",
            size=12,
        ),
    ]
    parts = [*proposing(brief), *deciding(result, brief), *below]
    head = '<marker id="head" markerWidth="7" markerHeight="7" refX="4" refY="3" orient="auto">'
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" role="img"'
            ' font-family="system-ui, Segoe UI, Helvetica, Arial, sans-serif">',
            f"<title>Detectors propose, one call decides: {escape(QUESTION)}</title>",
            f'<defs>{head}<path d="M0,0 L6,3 L0,6 z" fill="#8a949e"/></marker></defs>',
            f'<rect width="{WIDTH}" height="{HEIGHT}" fill="#ffffff"/>',
            text(20, 46, "Detectors propose", size=16, extra='font-weight="bold"'),
            text(374, 46, "the arbiter decides", size=16, extra='font-weight="bold"'),
            *parts,
            "</svg>\n",
        ]
    )


def _found_by(method: str, brief: Brief) -> list[Candidate]:
    return [c for c in brief.candidates if any(h.method == method for h in c.hits)]


def _clipped(said: str, most: int) -> str:
    return said if len(said) <= most else said[: most - 1].rstrip() + "…"


def main() -> None:
    """Write it."""
    TARGET.parent.mkdir(exist_ok=True)
    TARGET.write_text(picture(), encoding="utf-8")


if __name__ == "__main__":
    main()
