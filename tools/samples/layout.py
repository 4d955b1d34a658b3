"""How a sample document is set on pages: reportlab, standard fonts, the same bytes on each run."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from reportlab import rl_config
from reportlab.lib import colors
from reportlab.lib.pagesizes import A4
from reportlab.lib.styles import ParagraphStyle
from reportlab.lib.units import mm
from reportlab.platypus import (
    BaseDocTemplate,
    CondPageBreak,
    Flowable,
    Frame,
    KeepTogether,
    NextPageTemplate,
    PageBreak,
    PageTemplate,
    Paragraph,
    Spacer,
    Table,
    TableStyle,
)
from reportlab.platypus.tableofcontents import TableOfContents

from samples.source import Block, Source

rl_config.useA85 = 0  # text armour of streams is a quarter of a file's size and of no use today

INK = colors.HexColor("#1b2a41")
RULE = colors.HexColor("#9aa5b1")

BODY = ParagraphStyle(
    "body", fontName="Helvetica", fontSize=10.5, leading=14, spaceAfter=6.5, allowWidows=0, allowOrphans=0
)
ITEM = ParagraphStyle("item", BODY, leftIndent=14, bulletIndent=3, spaceAfter=3)
CELL = ParagraphStyle("cell", BODY, fontSize=9.5, leading=12, spaceAfter=0)
HEAD = ParagraphStyle("head", CELL, fontName="Helvetica-Bold", textColor=colors.white)
CAPTION = ParagraphStyle("caption", BODY, fontName="Helvetica-Oblique", fontSize=9.5, spaceBefore=4, spaceAfter=4)
TITLE = ParagraphStyle("title", fontName="Helvetica-Bold", fontSize=25, leading=31, textColor=INK, spaceAfter=8)
SUBTITLE = ParagraphStyle("subtitle", fontName="Helvetica", fontSize=14, leading=19, textColor=INK, spaceAfter=5)
HEADINGS = {
    1: ParagraphStyle(
        "h1", fontName="Helvetica-Bold", fontSize=16, leading=20, spaceBefore=14, spaceAfter=7, textColor=INK
    ),
    2: ParagraphStyle("h2", fontName="Helvetica-Bold", fontSize=12.5, leading=16, spaceBefore=9, spaceAfter=4),
    3: ParagraphStyle("h3", fontName="Helvetica-BoldOblique", fontSize=11, leading=14, spaceBefore=6, spaceAfter=3),
}
CONTENTS = [
    ParagraphStyle("toc1", fontName="Helvetica-Bold", fontSize=10.5, leading=12, spaceBefore=2),
    ParagraphStyle("toc2", fontName="Helvetica", fontSize=9.5, leading=11, leftIndent=14),
    ParagraphStyle("toc3", fontName="Helvetica", fontSize=9, leading=10.5, leftIndent=28),
]
NUMBER = re.compile(r"\d+(?:\.\d+)*\s+")
TIGHT = [
    (f"{side}PADDING", (0, 0), (-1, -1), 1 if side in ("TOP", "BOTTOM") else 0)
    for side in ("TOP", "BOTTOM", "LEFT", "RIGHT")
]
# As in many real files the outline leaves the number out that the page prints.


def write(source: Source, target: Path) -> None:
    """Set a sample's text and write it as PDF."""
    _Document(source, target).multiBuild(_story(source))


class _Document(BaseDocTemplate):  # type: ignore[misc]  # reportlab is untyped
    def __init__(self, source: Source, target: Path) -> None:
        meta = source.meta
        super().__init__(
            str(target),
            pagesize=A4,
            title=meta["title"],
            author=meta["author"],
            subject=meta["subtitle"],
            lang=meta["language"],
            invariant=1,
            pageCompression=1,
        )
        self._source = source
        frame = Frame(24 * mm, 24 * mm, A4[0] - 48 * mm, A4[1] - 50 * mm, leftPadding=0, rightPadding=0)
        self.addPageTemplates(
            [
                PageTemplate("cover", [frame]),
                PageTemplate("front", [frame], onPage=self._furniture),
                PageTemplate("main", [frame], onPage=self._furniture),
            ]
        )

    def beforeDocument(self) -> None:
        self._front_pages = 0
        self._keys = 0

    def handle_pageBegin(self) -> None:
        super().handle_pageBegin()
        if self.pageTemplate.id == "main" and not self._front_pages:
            self._front_pages = self.page - 1

    def _label(self) -> str:
        if self.pageTemplate.id == "main":
            return str(self.page - (self._front_pages or self.page - 1))
        return ("", "i", "ii", "iii", "iv")[self.page]

    def _furniture(self, canvas: Any, _: object) -> None:
        left, right = 24 * mm, A4[0] - 24 * mm
        canvas.saveState()
        canvas.setFont("Helvetica", 8)
        canvas.setFillColor(colors.HexColor("#52606d"))
        canvas.setStrokeColor(RULE)
        for part, draw, x in zip(
            self._source.meta["header"].split(" | "),
            (canvas.drawString, canvas.drawRightString),
            (left, right),
            strict=True,
        ):
            draw(x, A4[1] - 15 * mm, part)
        canvas.line(left, A4[1] - 17.5 * mm, right, A4[1] - 17.5 * mm)
        canvas.drawString(left, 13 * mm, self._source.meta["footer"])
        canvas.drawRightString(right, 13 * mm, f"{self._source.meta['page']} {self._label()}")
        canvas.restoreState()

    def afterPage(self) -> None:
        # Front matter i, ii, ...; the body starts again at 1.
        if self.page == 1:
            self.canv.addPageLabel(0, "ROMAN_LOWER", 1)
        elif self._front_pages and self.page == self._front_pages + 1:
            self.canv.addPageLabel(self._front_pages, "ARABIC", 1)

    def afterFlowable(self, flowable: Flowable) -> None:
        level = getattr(flowable, "heading_level", 0)
        if not level:
            return
        key = f"h{self._keys}"
        self._keys += 1
        text = flowable.getPlainText()
        top = self.frame._y + flowable.height + flowable.getSpaceBefore()
        self.canv.bookmarkPage(key, fit="XYZ", left=0, top=top)
        self.canv.addOutlineEntry(NUMBER.sub("", text, count=1) if NUMBER.match(text) else text, key, level - 1)
        self.notify("TOCEntry", (level - 1, text, self.page - self._front_pages, key))


def _story(source: Source) -> list[Flowable]:
    story: list[Flowable] = []
    for block in source.blocks:
        made = _flowables(block, source.meta)
        if block.kind == "list":  # a list stays with its lead-in
            story[-1:] = [KeepTogether([story[-1], *made])]
        else:
            story += made
    return story


def _flowables(block: Block, meta: dict[str, str]) -> list[Flowable]:
    if block.kind == "break":
        return _break(block.text, meta)
    if block.kind == "heading":
        heading = Paragraph(block.text, HEADINGS[block.level])
        heading.heading_level = block.level
        return [CondPageBreak((34 if block.level == 1 else 24) * mm), heading]
    if block.kind == "list":
        return [Paragraph(item, ITEM, bulletText="\u2022") for item in block.items] + [Spacer(1, 5)]
    if block.kind == "table":
        return [KeepTogether([Paragraph(block.text, CAPTION), _table(block.rows), Spacer(1, 9)])]
    return [Paragraph(re.sub(r"\*\*(.+?)\*\*", r"<b>\1</b>", block.text), BODY)]


def _break(what: str, meta: dict[str, str]) -> list[Flowable]:
    if what == "cover":
        return [
            Spacer(1, 60 * mm),
            Paragraph(meta["title"], TITLE),
            Paragraph(meta["subtitle"], SUBTITLE),
            Paragraph(meta["author"], SUBTITLE),
            Spacer(1, 14 * mm),
        ]
    if what == "contents":
        contents = TableOfContents(dotsMinLevel=0, levelStyles=CONTENTS, tableStyle=TableStyle(TIGHT))
        heading = ParagraphStyle("contents", HEADINGS[1], spaceBefore=0)
        return [NextPageTemplate("front"), PageBreak(), Paragraph(meta["contents"], heading), contents]
    if what == "main":
        return [NextPageTemplate("main"), PageBreak()]
    return [PageBreak()]


def _table(rows: tuple[tuple[str, ...], ...]) -> Table:
    width = A4[0] - 48 * mm
    first = 0.34 if len(rows[0]) > 3 else 0.36
    rest = (1 - first) / (len(rows[0]) - 1)
    cells = [[Paragraph(cell, HEAD if i == 0 else CELL) for cell in row] for i, row in enumerate(rows)]
    table = Table(cells, colWidths=[width * first] + [width * rest] * (len(rows[0]) - 1), repeatRows=1)
    table.setStyle(
        TableStyle(
            [
                ("BACKGROUND", (0, 0), (-1, 0), INK),
                ("LINEBELOW", (0, 0), (-1, -1), 0.5, RULE),
                ("ROWBACKGROUNDS", (0, 1), (-1, -1), [colors.white, colors.HexColor("#f3f5f7")]),
                ("VALIGN", (0, 0), (-1, -1), "TOP"),
                ("TOPPADDING", (0, 0), (-1, -1), 4),
                ("BOTTOMPADDING", (0, 0), (-1, -1), 4),
            ]
        )
    )
    return table
