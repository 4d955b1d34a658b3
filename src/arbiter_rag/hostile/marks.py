"""Marks that need no words: forged replies and boundaries, ids of candidates, characters that hide text."""

from __future__ import annotations

import re
from collections.abc import Iterator

from arbiter_rag.hostile.views import View

_ROLE = r"(?:primary|supporting|tangential|discarded)"
_Q = r"(?:\\{0,4}[\"'])?"

# Every repeat below is bounded: text is somebody else's, and an unbounded one could be made to run for minutes.
_FORGED = re.compile(
    rf"\bcandidate_?ids?\b{_Q}\s{{0,8}}[:=><]"
    rf"|\brankings?{_Q}\s{{0,8}}[:=]\s{{0,8}}(?:\[|-\s)"
    rf"|\brole{_Q}\s{{0,8}}(?:[:=>]|\bis\b)\s{{0,8}}{_Q}{_ROLE}\b"
    rf"|\b(?:verdict|ranking|label){_Q}\s{{0,8}}[:=]\s{{0,8}}{_Q}(?:primary|discarded|tangential)\b"
    rf"|[|]\s{{0,8}}{_ROLE}\s{{0,8}}[|]"
    rf"|:\s{{0,8}}{_ROLE}\s{{0,8}}[;,}}]"
    rf"|\bnot_found{_Q}\s{{0,8}}[:=]"
    r"|\brelevance[ _]score\s{0,8}[:=]\s{0,8}(?:100|10|1\.0)\b"
)
_TAG = (
    r"(?:system|user|assistant|instructions?|passages?|snippets?|candidates?|rankings?|system_?message|system_?prompt|"
    r"prompt|human|judge|tool|function_results?|context|documents?|information|admin|developer|user_?query|im_start|"
    r"im_end|start_of_turn|end_of_turn|s|sys|question|answer|task|override|important)"
)
_ANGLED = re.compile(
    r"<\|[a-z_ /][a-z_0-9 /]{0,38}\|>|<</?sys>>|<(?:start|end)_of_turn>|<end of session>"
    rf"|</?{_TAG}(?:\s[^<>\n]{{0,80}})?/?>(?=[^<>]{{0,200}}</?{_TAG}\b)"
    r"|</(?:system|user|assistant|instructions?|passages?|snippets?|candidates?|prompt|context|system_?message)>"
    r"|<(?:system|assistant|instructions?|system_?message|system_?prompt)>"
    r"|<script\b"
    r"|<!--[^>]{0,200}\b(?:ai|assistant|llm|ignore|instructions?|prompt|agents?)\b"
)
_BRACKETED = re.compile(
    r"\[/?inst\]|\[rest-of-document\]"
    r"|\[(?:system|assistant|user|admin|developer)(?:[ _](?:message|prompt|note|override))?\](?:\s?:|\(#|\[)"
    r"|!\[[^\]\n]{0,60}\]\(https?://[^)\s]{0,200}[?=]"
)
_FENCED = re.compile(
    r"(?:^|\n)[ \t]{0,8}(?:#{2,6}|\*{2,6}|={3,9}|-{3,9}|~{3}|`{3})[ \t]{0,8}[(\[]?"
    r"(?:system|assistant|user|human|instructions?|new instructions)\b[_ a-z]{0,12}[)\]]?[ \t]{0,8}[:=*#\-\n]"
    r"|#{3}\s{0,4}\(?system|[~`]{3}\s{0,4}(?:system|end)\b"
)
_TURNS = re.compile(
    r"\n[ \t]{0,8}(?:human|user)[ \t]{0,4}:[^\n]{0,300}\n{1,3}[ \t]{0,8}(?:assistant|ai|system)[ \t]{0,4}:"
    r"|\n[ \t]{0,8}(?:system|assistant)[ \t]{0,4}:[ \t]{1,4}(?=\S)"
    r"|[\n`.}>]\s{0,4}(?:assistant|judge)\s?:\s{0,4}(?:[{<`]|p\d)"
)
_BOUNDARY = re.compile(
    r"\bsystem (?:message|prompt|instruction|override|note|update|notice)\s?:"
    r"|\b(?:end|start|begin(?:ning)?)[ _]of[ _](?:the[ _])?(?:user[ _]|system[ _])?(?:candidates?|passages?|snippets?"
    r"|prompt|messages?|user input|untrusted input|instructions?|context|conversation)\b"
    r"|\bend of (?:input|document|text|data)s?\b[^\n]{0,20}[\s.\-=]{1,6}(?:begin|new|system|start|now)\b"
    r"|\bbegin (?:new|the real|hidden|system|admin) (?:task|instructions?|prompt|session|conversation)\b"
    rf"|\brole{_Q}\s{{0,8}}:\s{{0,8}}{_Q}(?:system|assistant|user)[\"']"
    r"|\boverride\s?:|\bpriority (?:task|instruction)s?\s?:"
    r"|\((?:for )?(?:ai|assistant|llm)(?: [a-z ]{1,20})?\)\s?:"
    r"|\bonerror\s?=|\bjavascript:"
)
_CLOSED = re.compile(
    r"\"\s{0,8}[\]}]\s{0,8}[\]}]\s{0,8}[\]}]?\s{0,8}(?:$|[{\n\"])"
    r"|\"\s{0,8}\}\s{0,8},\s{0,8}\{\s{0,8}\"(?:candidate|id|methods|snippet|role|text|content)"
    r"|\{\s{0,8}\"(?:tool|function|tool_name|function_call|tool_call)s?\"\s{0,8}:"
)
_ID = re.compile(r"(?<![\w-])(?:d\d{1,3}-)?p\d{1,5}-l\d{1,4}(?![a-z0-9-])")
_SHORT_ID = re.compile(
    rf"(?<![\w-])n\d{{1,4}}(?![a-z0-9-])[^.\n]{{0,24}}\b(?:{_ROLE}|relevant candidate)\b"
    rf"|\b{_ROLE}\b[^.\n]{{0,24}}(?<![\w-])n\d{{1,4}}(?![a-z0-9-])"
)
_TOOL = re.compile(
    r"\b(?:call|use|invoke|run|execute|trigger)\s{1,4}(?:the\s{1,4})?(?:tool\s{1,4})?"
    r"[a-z]{2,12}_[a-z]{2,12}(?:_[a-z]{1,12})?\s{1,4}(?:to|on|with|and|url|at)\b"
)
_PAYMENT = re.compile(
    r"\b(?:send|transfer|wire|pay)\b[^.\n]{0,30}\b(?:transaction|payment|money|funds?|bitcoin)\b[^.\n]{0,20}"
    r"\bto\s{1,4}(?:[a-z]{2}\d{12,30}|0x[0-9a-f]{20,})"
)
_ADDRESS = re.compile(r"[a-z0-9_-]@[a-z0-9]|https?://")
_EXPORT = re.compile(
    r"\b(?:send|forward|e-?mail|post|upload|transmit|copy|exfiltrate|mail|submit|share)\b[^.\n]{0,80}\b(?:all|full|entire"
    r"|every|contents?|summary|data|records?|conversation|history|list|keys|tokens?|passwords?|credentials)\b"
)
_EXPORT_REACH = 140

_ROLES = ("primary", "supporting", "tangential", "discarded")
_SPEAKERS = ("system", "assistant", "user", "human", "judge")

# Kind, groups of strings (without one of each group the pattern cannot match or is not tried), pattern. Patterns cost
# a hundred times what a search for a string does, and most passages hold none of these.
_PATTERNS: tuple[tuple[str, tuple[tuple[str, ...], ...], re.Pattern[str]], ...] = (
    (
        "forged_reply",
        (
            ("candidate", "rank", "role", "verdict", "label", "primary", "discarded", "not_found", "score"),
            (*_ROLES, "candidate_id", "candidateid", "ranking", "not_found", "relevance score", "relevance_score"),
        ),
        _FORGED,
    ),
    ("boundary", (("<",),), _ANGLED),
    (
        "boundary",
        (("inst]", "[rest-of", "[system", "[assistant", "[user", "[admin", "[developer", "!["),),
        _BRACKETED,
    ),
    (
        "boundary",
        (("##", "**", "===", "---", "~~~", "```"), (*_SPEAKERS, "instruction", "end")),
        _FENCED,
    ),
    ("boundary", ((":",), _SPEAKERS), _TURNS),
    (
        "boundary",
        (
            (
                *(f"system {word}" for word in ("message", "prompt", "instruction", "override", "note", "update")),
                *(f"{word}{gap}of" for word in ("end", "start", "begin", "beginning") for gap in " _"),
                *(f"({opening}{who}" for opening in ("", "for ") for who in ("ai", "assistant", "llm")),
                *("begin ", "role", "override", "priority ", "onerror", "javascript"),
            ),
        ),
        _BOUNDARY,
    ),
    ("boundary", (('"',), ("}", "]", "{")), _CLOSED),
    ("id_claim", (("-l",),), _ID),
    ("id_claim", ((*_ROLES, "relevant candidate"),), _SHORT_ID),
    ("instruction", (("_",), ("call", "use", "invoke", "run", "execute", "trigger")), _TOOL),
    ("instruction", (("send ", "transfer ", "wire ", "pay "),), _PAYMENT),
)

_LETTER = r"[A-Za-z\u00c0-\u024f\u0370-\u03ff\u0400-\u04ff\u3040-\u30ff\u3400-\u9fff\uac00-\ud7a3]"
_JOINERS = "\u200b\u200c\u200d\u2060\u2061-\u2064\ufeff\u180e\u034f\u115f\u1160\u3164\uffa0"
_SPLIT_WORD = re.compile(rf"(?<={_LETTER})[{_JOINERS}]+(?={_LETTER})")
_JOINER = re.compile(f"[{_JOINERS}]")
_TAG_CHAR = re.compile("[\ufe00-\ufe0f\U000e0000-\U000e01ef]")
_BIDI = re.compile("[\u202a\u202b\u202d\u202e\u2066-\u2068]")
_RTL = re.compile("[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc]")
_TAGS = re.compile(
    "(?<![\U0001f3f4\U000e0020-\U000e007f])[\U000e0000-\U000e007f]{2,}|[\U000e0100-\U000e01ef]{4,}|[\ufe00-\ufe0f]{4,}"
)
_NEAR = 40
"""Two split words within this many characters are a habit, one alone is a typesetter's break in a long name."""


def structures(view: View) -> Iterator[tuple[str, int, int]]:
    """Kind and place in the reading of what imitates replies, boundaries or ids, or sends things away."""
    text = "\n" + view.text  # so that the first line starts behind a break like every other
    for kind, groups, pattern in _PATTERNS:
        if all(_any_in(needles, text) for needles in groups):
            for match in pattern.finditer(text):
                yield kind, max(match.start() - 1, 0), match.end() - 1
    if not _any_in(("@", "://"), text):
        return
    for match in _ADDRESS.finditer(view.text):
        if _EXPORT.search(view.text, max(0, match.start() - _EXPORT_REACH), match.start()):
            yield "instruction", max(0, match.start() - 1), match.end()


def _any_in(needles: tuple[str, ...], text: str) -> bool:
    for needle in needles:  # noqa: SIM110 - a generator for any() would cost more than the search
        if needle in text:
            return True
    return False


def hidden(text: str) -> Iterator[tuple[int, int]]:
    """Place in the text of characters that hide or reorder it where no script needs them."""
    if text.isascii():
        return
    splits = [match.start() for match in _SPLIT_WORD.finditer(text)] if _JOINER.search(text) else []
    for i, place in enumerate(splits):
        near = (i and place - splits[i - 1] <= _NEAR) or (i + 1 < len(splits) and splits[i + 1] - place <= _NEAR)
        if near:
            yield place, place + 1
    if _TAG_CHAR.search(text):
        for match in _TAGS.finditer(text):
            yield match.start(), match.end()
    if _BIDI.search(text) and _RTL.search(text) is None:
        for match in _BIDI.finditer(text):
            yield match.start(), match.end()
