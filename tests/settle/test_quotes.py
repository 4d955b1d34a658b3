"""Quotes: what counts as found, what does not, and where it is said to stand."""

from __future__ import annotations

import pytest

from arbiter_rag.contract import SnippetLine
from arbiter_rag.settle import settle
from tests.settle.build import brief, document, lined, passage, reply


def status(text: str, quote: str | None, language: str = "en") -> str | None:
    result = settle(brief(passage("n1", text), language=language), reply(("n1", "supporting", quote)), judge="t")
    return result.candidates[0].quote_status


@pytest.mark.parametrize(
    ("text", "quote", "expected"),
    [
        ("The fee is 28.4 points.", "The fee is 28.4 points", "exact"),
        ("The fee\tis  28.4\npoints.", "The fee is 28.4 points", "folded"),
        ("an eﬃcient insur-\nance of well-\nknown risks", "efficient insurance of well-known risks", "folded"),
        ("a non\u00adsmoker rate\u00a0applies", "a nonsmoker rate applies", "folded"),
        ("“Loss” means the insured’s loss", "\"Loss\" means the insured's loss", "folded"),
        ("le mot « franchise » désigne la part", 'le mot "franchise" désigne la part', "folded"),
        ("from 2019–2020 it fell", "from 2019-2020 it fell", "folded"),
        ("cafe\u0301 and bar are shut", "café and bar are shut", "folded"),
        ("保険金は事故の日から\n三十日以内に支払われます", "事故の日から三十日以内", "folded"),
        ("The insurer pays all costs of repair within ten days of notice.",
         "The insurer pays all costs ... within ten days", "folded"),
        ("The fee is five euros", "… fee is five euros", "folded"),
        ("Total\t1,234\t1,100", "Total 1,234 1,100", "folded"),
        ("BLEU of 28.4", "28.4", "exact"),
        ("l'assuré est couvert partout", "assuré est couvert partout", "exact"),
    ],
)  # fmt: skip
def test_what_is_found(text: str, quote: str, expected: str) -> None:
    assert status(text, quote) == expected


@pytest.mark.parametrize(
    ("text", "quote"),
    [
        ("It fell by −5% in that year", "5% in that year"),
        ("It rose by 15% in that year", "5% in that year"),
        ("It rose by 5.5% in that year", "5% in that year"),
        ("It rose by 1,5% in that year", "5% in that year"),
        ("In that year it rose by 5%", "In that year it rose by 5"),
        ("In that year it rose by 5 %", "In that year it rose by 5"),
        ("The net result was (1,234) here", "1,234"),
        ("We paid $5 to the driver", "5 to the driver"),
        ("We paid USD 5 to the driver", "5 to the driver"),
        ("We paid 1 234 euros to him", "234 euros to him"),
        ("We paid 5.0 euros to him", "We paid 5,0 euros to him"),
        ("an area of 20 m² was let", "an area of 20 m2 was let"),
        ("about ½ of all claims are", "about 1/2 of all claims are"),
        ("the well-known risk of fire", "the wellknown risk of fire"),
        ("the non-smoker rate applies here", "smoker rate applies here"),
        ("Damage by wear is not covered", "Damage by wear is covered"),
        ("the category of all risks", "the cat"),
        ("the fee is fixed here", "The Fee is fixed here"),
        ("The insurer is not ever liable for any such loss at all",
         "The insurer is ... liable for any such loss"),
        ("we can't cover the loss", "we can"),
        ("a loss of 5 < 10 units here", "10 units here"),
        ("version v1.5 is current now", "5 is current now"),
    ],
)  # fmt: skip
def test_what_is_not_found(text: str, quote: str) -> None:
    assert status(text, quote) in ("absent", "weak")


@pytest.mark.parametrize(
    ("text", "quote", "language"),
    [
        ("wear is not covered by this policy", "covered by this policy", "en"),
        ("The insurer is liable never again", "The insurer is liable", "en"),
        ("Schäden sind nicht gedeckt durch uns", "gedeckt durch uns", "de"),
        ("Der Versicherer haftet nicht dafür", "Der Versicherer haftet", "de"),
        ("la garantie n'est pas acquise ici", "acquise ici au client", "fr"),
        ("這個保險不包括地震損失的賠償金", "包括地震損失的賠償金", "zh"),
        ("この保険は地震を対象とし\nない", "この保険は地震を対象とし", "ja"),
        ("the fee", "the fee", "en"),
    ],
)
def test_weak_or_absent(text: str, quote: str, language: str) -> None:
    assert status(text, quote, language) in ("weak", "absent")


def test_portuguese_no_is_no_negation() -> None:
    assert status("o prazo começa no primeiro dia do mês", "primeiro dia do mês", "pt") == "exact"
    assert status("there is no first day of the month", "first day of the month", "en") == "weak"


def test_a_french_quote_that_keeps_half_of_the_negation_keeps_it() -> None:
    assert status("La majoration ne s'applique pas dans ce cas", "s'applique pas dans ce cas", "fr") == "exact"


def test_a_name_or_number_makes_two_words_enough() -> None:
    assert status("They use the Adam optimizer here", "Adam optimizer") == "exact"
    assert status("They use the adam optimizer here", "adam optimizer") == "weak"
    assert status("Sie nutzen den Adam Optimierer", "Adam Optimierer", "de") == "weak"


def test_quote_over_caption_heads_and_row_is_placed_by_lines() -> None:
    doc = document(["Table 1. Fees", "Kind\t2022\t2023", "Basic\t10\t12", "Plus\t20\t25", "Text follows."])
    made = brief(lined(doc, 0, 5, shown=(0, 1, 3)))
    result = settle(made, reply(("p1-l1", "primary", "Kind 2022 2023 Plus 20 25")), judge="t", documents={"doc": doc})
    (best,) = result.candidates
    assert best.role == "primary"
    assert best.quote_status == "folded"
    assert best.quote_scope is not None
    assert (best.quote_scope.line_start, best.quote_scope.line_end) == (2, 4)
    assert len(best.quote_scope.boxes) == 2


def test_quote_in_the_context_has_offsets_and_a_box_a_line() -> None:
    doc = document(["One line.", "Another line."], ["The notice period", "is 3 months here."])
    made = brief(lined(doc, 0, 4, shown=(0,)))
    quote = "notice period is 3 months"
    result = settle(made, reply(("p1-l1", "primary", quote)), judge="t", documents={"doc": doc})
    scope = result.candidates[0].quote_scope
    assert scope is not None
    assert (scope.page_start, scope.line_start, scope.line_end) == (2, 1, 2)
    assert "The notice period"[scope.char_start :] == "notice period"
    assert "is 3 months here."[: scope.char_end] == "is 3 months"
    assert [box.page for box in scope.boxes] == [2, 2]


def test_what_stands_around_the_context_counts_too() -> None:
    doc = document(["Wear is not", "covered by this policy at all."])
    made = brief(lined(doc, 1, 2))
    result = settle(made, reply(("p1-l2", "primary", "covered by this policy")), judge="t", documents={"doc": doc})
    assert result.candidates[0].quote_status == "weak"
    assert result.candidates[0].role == "supporting"


def test_a_clipped_snippet_line_points_into_its_source() -> None:
    text = "First words of a long passage. The deductible is EUR 800 for each claim."
    line = SnippetLine(text="The deductible is EUR 800 for", start=text.index("The"), whole=False)
    made = brief(passage("n1", text).model_copy(update={"snippet_lines": (line,)}))
    scope = settle(made, reply(("n1", "primary", "deductible is EUR 800")), judge="t").candidates[0].quote_scope
    assert scope is not None
    assert text[scope.char_start : scope.char_end] == "deductible is EUR 800"


def test_elsewhere_and_absent() -> None:
    made = brief(passage("n1", "The fee is five euros a day."), passage("n2", "Notice is three months in writing."))
    result = settle(
        made, reply(("n1", "primary", "Notice is three months"), ("n2", "primary", "Nothing like this here")), judge="t"
    )
    assert {c.candidate_id: c.quote_status for c in result.candidates} == {"n1": "elsewhere", "n2": "absent"}
    assert [c.demoted_from for c in result.candidates] == ["primary", "primary"]


def test_unspaced_scripts_find_their_quote_elsewhere() -> None:
    made = brief(
        passage("n1", "保険の対象は建物です。"), passage("n2", "事故の日から三十日以内に支払われます。"), language="ja"
    )
    result = settle(made, reply(("n1", "primary", "三十日以内に支払われます")), judge="t")
    assert result.candidates[0].quote_status == "elsewhere"
