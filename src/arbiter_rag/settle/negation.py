"""What turns a statement round, by language, and whether a quote leaves it out."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache

_NEGATIONS = {
    "en": "not no never neither nor without cannot nobody none nothing nowhere noone no-one hardly scarcely",
    "fr": "ne pas jamais aucun aucune sans ni non nul nulle nullement rien guère",
    "de": "nicht kein keine keinen keinem keiner keines keins nie niemals ohne weder noch niemand niemanden niemandem "
    "niemandes nichts nirgends nirgendwo keinerlei keinesfalls keineswegs",
    "es": "no nunca jamás sin ningún ninguno ninguna tampoco ni nadie nada",
    "it": "non mai senza nessun nessuno nessuna né nemmeno neppure neanche niente nulla",
    "pt": "não nunca jamais sem nenhum nenhuma nenhuns nenhumas nem ninguém nada tampouco",
    "nl": "niet geen nooit zonder noch niemand niets nergens geenszins",
    "ru": "не нет ни без никогда никто никого никому никем ничто ничего ничему ничем нигде нельзя никакой никакая "
    "никакое никакие никакого никаких никаким никакому никоим",
    "uk": "не немає ні без ніколи ніхто нікого нікому ніщо нічого ніде жоден жодна жодне жодного",
    "pl": "nie nigdy bez ani żaden żadna żadne żadnego żadnej żadnych nikt nikogo nikomu nic niczego nigdzie",
    "sv": "inte ej aldrig ingen inget inga utan ingenting ingenstans",
    "da": "ikke aldrig ingen intet uden ingenting ingensteds",
    "nb": "ikke aldri ingen intet uten ingenting ingensteds",
    "cs": "ne nikdy bez ani žádný žádná žádné žádného žádnou nikdo nikoho nikomu nic nikde",
    "ro": "nu niciodată fără nici nimeni nimănui nimic niciun nicio",
    "tr": "değil hiç yok hiçbir",
}
"""What turns a statement round, by language: `no` denies in English and means "in the" in Portuguese."""

_NEARBY = frozenset(
    ["without", "sans", "ohne", "sin", "senza", "sem", "zonder", "без", "bez", "utan", "uden", "uten", "fără"]
)
"""Words that deny the noun behind them and not the whole clause."""

_DENIES_ON = _NEARBY | frozenset(["nor", "neither", "ni", "weder", "né", "nem", "noch", "ни", "ні", "ani", "nici"])
"""Words that deny what follows them; a quote that ends before one keeps its own meaning."""

_TOKEN = re.compile(r"(?<![\w\\])\w+(?:['’-]\w+)*['’]?")
_NEXT = re.compile(rf"[^\S\t]*({_TOKEN.pattern})(?:[^\S\t]+({_TOKEN.pattern}))?")
"""The next two words, with nothing but blanks before them."""

_ONLY = re.compile(
    r"(?i)\b(?:not (?:only|just|merely)|nicht (?:nur|allein|bloß)|non (?:seulement|solo|soltanto)"
    r"|no (?:sólo|solo|solamente)|não (?:só|apenas|somente)|niet (?:alleen|slechts)|не только"
    r"|nie tylko|inte bara|ikke (?:kun|bare))\b"
)
"""What denies nothing: both halves hold."""

_UNSPACED_BEFORE = tuple("不没沒未無无非勿")
_UNSPACED_AFTER = ("ない", "なかった", "なく", "ません", "ぬ", "않", "아니", "못하")
_UNSPACED_CLAUSE_BEFORE = re.compile(
    r"没有|沒有|[没沒无無](?:人|任何|论何)|从[不未]|從[不未]|[绝絕決决](?:不|非)|不(?:得|会|會|能|可|是|应|應|予)|[并並]非|[并並]不|禁止"
    r"|誰も|何人も|決して|아무도|누구도|결코|절대"
)
_UNSPACED_CLAUSE_AFTER = re.compile(r"(?<![少危汚])ない|なかった|ません|ざる|않|아니|못하|없")

_BUT = "but however whereas mais aber sondern jedoch pero sino ma bensì mas maar но однако a ale lecz men"
_CLAUSE_END = re.compile(
    r"[.!?:;…](?=\s|$)|,(?=\s|$)|\s[-–]\s|[—|•·\t()\[\]«»“”\"。、，；：！？]|\n\s*\n"
    rf"|(?i:\b(?:{'|'.join(_BUT.split()).replace('|a|', '|')})\b)"
)
_ASIDE = re.compile(r",(?:\s+[^\s,.;:]{1,20}){1,3},")
"""A word or three between commas: the clause goes on behind them."""

_EXCEPT = re.compile(
    r"(?i)\b(?:except(?:ed|ing|ion|ions|s)?|exclu\w+|unless|save (?:for|that|as|where|in)|other than|"
    r"sauf|excepté\w*|hormis|à moins|à l['’]exc\w+|außer\w*|ausgenommen|ausschl\w+|ausgeschlossen\w*|ausnahme\w*|"
    r"sei denn|salvo|excepto|exceptuad\w+|excepción|a menos|eccetto|eccezione|tranne|fuorché|a meno|esclus\w+|exceto|"
    r"exceção|excet\w+|"
    r"behalve|tenzij|uitgezonderd|uitzondering\w*|uitgesloten|кроме|исключ\w+|за вычетом|крім|oprócz|chyba|z wyjątkiem|"
    r"utom|förutom|undantag\w*|undtage\w*|undtagelse\w*|medmindre|unntak\w*|unntatt|kromě|vyjma|cu excepția|hariç)\b"
    r"|除[非外く]|除了|以外|제외|이외"
)
"""What takes something out of a statement: left out of a quote, it says more than its source."""

_LEADS = frozenset(
    [
        "in",
        "under",
        "at",
        "on",
        "by",
        "to",
        "for",
        "en",
        "sous",
        "à",
        "dans",
        "unter",
        "auf",
        "zu",
        "bei",
        "bajo",
        "a",
        "sotto",
        "sob",
        "em",
        "op",
        "onder",
        "aan",
        "ни",
        "под",
        "в",
        "на",
        "i",
        "ved",
    ]
)
"""Small words before a denied noun: "in no case", "in keinem Fall", "en aucun cas"."""

_LATE = frozenset({"nicht", "niet"})
"""Negations that stand at the end of the clause that they deny."""


@lru_cache(maxsize=64)
def negations(languages: tuple[str, ...]) -> frozenset[str]:
    """Negations of these languages; of all known ones when none of these is known."""
    chosen: Iterable[str] = [_NEGATIONS[code] for code in languages if code in _NEGATIONS] or _NEGATIONS.values()
    return frozenset(word for words in chosen for word in words.split())


_FIRST_HALVES = frozenset({"ne", "n'", "n’"})
"""French denies with two words; a quote that holds one of them keeps the negation."""


def _second_half(text: str) -> bool:
    return re.search(r"(?i)\b(?:pas|plus|jamais|que|aucun|aucune|rien|personne|ni|guère|nul|nulle)\b", text) is not None


_RUNS_ON = re.compile(r"(?<!\w)(?!\d)[^\W_A-ZÀ-ÝА-Я]\w{0,3}[^\S\n]*\n[^\S\n]*$")
"""A line that ends with a little word (the, of, will): the next one goes on, with a capital or without."""


def _new_clause(text: str, before: str = "\n") -> bool:
    """Whether a text begins on a new line with a capital."""
    broken = re.match(r"[^\S\n]*\n", text) is not None if before == "\n" else before.rstrip(" ").endswith("\n")
    return broken and text.lstrip()[:1].isupper() and not _RUNS_ON.search(before)


def _denies(word: str, words: frozenset[str]) -> bool:
    return word in words or word.endswith(("n't", "n’t")) or word.startswith(("n'", "n’"))


def _head(before: str, words: frozenset[str]) -> str:
    """The clause up to its end: what stands between the last punctuation mark and the quote."""
    plain = _ASIDE.sub(" ", _ONLY.sub(" ", before))
    start = max((m.end() for m in _CLAUSE_END.finditer(plain)), default=0)
    if "nicht" not in words:  # German nouns have capitals amid a clause
        lines = re.finditer(r"\n(?=[^\S\n]*[A-ZÀ-ÝА-Я])", plain)
        start = max((start, *(m.start() for m in lines if not _RUNS_ON.search(plain, 0, m.end()))))
    return plain[start:]


def _denied_before(before: str, quoted: str, words: frozenset[str]) -> bool:
    head = _head(before, words)
    if before.rstrip().endswith(_UNSPACED_BEFORE) or _UNSPACED_CLAUSE_BEFORE.search(head):
        return True
    tokens = [t.lower() for t in _TOKEN.findall(head)]
    denying = [t for i, t in enumerate(tokens) if _denies(t, words) and (t not in _NEARBY or i >= len(tokens) - 2)]
    # A French quote that holds the second half keeps its negation.
    if denying and all(t in _FIRST_HALVES or t.startswith(("n'", "n’")) for t in denying):
        return not _second_half(quoted[:48])
    return bool(denying)


def _denied_behind(quoted: str, after: str, words: frozenset[str]) -> bool:
    if after.lstrip().startswith(_UNSPACED_AFTER):
        return True
    end = _CLAUSE_END.search(after)
    clause = after[: end.start() if end else len(after)]
    if _UNSPACED_CLAUSE_AFTER.search(clause):
        return True
    if re.search(r"(?i)\b(?:ne\s|n['’])", quoted[-48:]):
        return False
    if _LATE & words & {t.lower() for t in _TOKEN.findall(clause)}:
        return True
    following = _NEXT.match(clause)
    first, second = ((word or "").lower() for word in following.groups()) if following else ("", "")
    if first in _LEADS and second in words and second not in _DENIES_ON:
        return True
    return _denies(first, words) and first not in _DENIES_ON


def cuts_negation(before: str, quoted: str, after: str, words: frozenset[str]) -> tuple[bool, bool]:
    """Whether a quote leaves out a negation before it in the same clause, and one behind it.

    Args:
        before: What stands before the quote.
        quoted: The quote, as its source writes it.
        after: What stands behind it.
        words: Negations of the document's languages.
    """
    if quoted[-1:] in ".!?;:。！？" or _new_clause(after):
        after = ""
    if _new_clause(quoted, before) and "nicht" not in words:
        before = ""
    return _denied_before(before, quoted, words), _denied_behind(quoted, after, words)


def holds_negation(text: str, words: frozenset[str]) -> bool:
    """Whether a text says a negation or an exception: an ellipsis must leave out neither."""
    if any(mark in text for mark in (*_UNSPACED_BEFORE, *_UNSPACED_AFTER)) or _EXCEPT.search(text):
        return True
    return any(_denies(t, words) for t in _TOKEN.findall(text.lower()))
