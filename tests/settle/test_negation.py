"""A quote that leaves out what turns its statement round, or what makes its number another one, is no evidence."""

from __future__ import annotations

import pytest

from tests.settle.test_quotes import status


@pytest.mark.parametrize(
    ("text", "quote", "language"),
    [
        ("Nobody may enter the secured area.", "may enter the secured area", "en"),
        ("None of the tenants may use the roof.", "the tenants may use the roof", "en"),
        ("Nothing in this deed binds the bank.", "in this deed binds the bank", "en"),
        ("Under no circumstances will the insurer pay the claim.", "will the insurer pay the claim", "en"),
        ("Under no circumstances, however, will the insurer pay.", "will the insurer pay", "en"),
        ("It is not the case that the insurer pays the claim.", "the insurer pays the claim", "en"),
        ("The lender won't under any terms waive the fee.", "waive the fee", "en"),
        ("The insurer pays the claim in no case.", "The insurer pays the claim", "en"),
        ("The carrier compensates nobody for delays.", "The carrier compensates", "en"),
        ("Under no circumstances will the\nInsurer pay the claim.", "Insurer pay the claim", "en"),
        ("Niemand darf den Bereich betreten.", "darf den Bereich betreten", "de"),
        ("Der Versicherer zahlt den Schaden in diesem Fall nicht.", "Der Versicherer zahlt den Schaden", "de"),
        ("Keinesfalls wird die Gebühr erstattet.", "wird die Gebühr erstattet", "de"),
        ("Personne ne peut entrer dans la zone.", "peut entrer dans la zone", "fr"),
        ("Aucun locataire ne peut utiliser le toit.", "peut utiliser le toit", "fr"),
        ("Nadie puede entrar en la zona.", "puede entrar en la zona", "es"),
        ("Ningún inquilino puede usar la azotea.", "puede usar la azotea", "es"),
        ("Nessuno può entrare nella zona.", "può entrare nella zona", "it"),
        ("Ninguém pode entrar na zona.", "pode entrar na zona", "pt"),
        ("Niemand mag de zone betreden.", "mag de zone betreden", "nl"),
        ("Никто не может входить в зону.", "может входить в зону", "ru"),
        ("没有人可以进入安全区域。", "可以进入安全区域", "zh"),
        ("保険会社は保険金を支払う義務を負わない。", "保険会社は保険金を支払う", "ja"),
    ],
)
def test_a_negation_in_the_clause_is_missed(text: str, quote: str, language: str) -> None:
    assert status(text, quote, language) == "weak"
    assert status(text, text, language) == "exact"


@pytest.mark.parametrize(
    ("text", "quote", "language"),
    [
        ("What is not covered\nFire and water damage here", "Fire and water damage", "en"),
        ("If it is not insured, the owner pays the repair.", "the owner pays the repair", "en"),
        ("It is not insured. The owner pays the repair.", "The owner pays the repair", "en"),
        ("The owner does not repair but pays the costs.", "pays the costs", "en"),
        ("Not only the fee and the premium are due.", "the premium are due", "en"),
        ("Without notice by the bank the tenant may leave early.", "the tenant may leave early", "en"),
        ("The non-smoker rate applies here always.", "rate applies here always", "en"),
        ("Toute personne assurée peut entrer ici.", "assurée peut entrer ici", "fr"),
        ("The tenant pays the rent monthly [x] No", "The tenant pays the rent", "en"),
        ("o prazo começa no primeiro dia do mês", "começa no primeiro dia", "pt"),
    ],
)
def test_a_negation_of_something_else_is_none(text: str, quote: str, language: str) -> None:
    assert status(text, quote, language) == "exact"


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("Insurer pays all costs except theft, vandalism and late fees.", "en"),
        ("Insurer pays all costs unless agreed otherwise, and late fees.", "en"),
        ("Insurer pays all costs sauf le vol and late fees.", "fr"),
        ("Insurer pays all costs außer Diebstahl and late fees.", "de"),
        ("Insurer pays all costs salvo robo and late fees.", "es"),
        ("Insurer pays all costs eccetto furto and late fees.", "it"),
        ("Insurer pays all costs exceto furto and late fees.", "pt"),
        ("Insurer pays all costs behalve diefstal and late fees.", "nl"),
        ("Insurer pays all costs кроме кражи and late fees.", "ru"),
    ],
)
def test_an_ellipsis_leaves_out_no_exception(text: str, language: str) -> None:
    assert status(text, "Insurer pays all costs ... and late fees", language) == "absent"
    assert status("Insurer pays all costs of repair and late fees.", "Insurer pays all costs ... late fees") == "folded"


@pytest.mark.parametrize(
    "text",
    [
        "The fee is 5 million dollars a year.",
        "The fee is 5 billion.",
        "The fee is 5 k per year",
        "The fee is 5 m a year",
        "The fee is 5 bn a year",
        "The fee is 5\nmillion dollars",
        "The fee is 5 Mio. Euro",
        "The fee is 5 Mrd. Euro",
        "The fee is 5 milliards d'euros",
        "The fee is 5 млн рублей",
        "The fee is 5万円",
        "The fee is 5 億円",
        "The fee is 5 thousand million",
    ],
)
def test_a_scale_word_belongs_to_its_number(text: str) -> None:
    assert status(text, "The fee is 5") == "absent"
    assert status(text, text) == "exact"


def test_a_number_without_scale_word_is_whole() -> None:
    assert status("The fee is 5 million.", "The fee is 5 million") == "exact"
    assert status("The fee is 5 members of staff.", "The fee is 5") == "exact"
    assert status("手数料は5万円です。", "手数料は5万円です") == "exact"
