"""Marks that need no words: forged replies and boundaries, ids of candidates, characters that hide text."""

from __future__ import annotations

import re
from collections.abc import Iterator

from arbiter_rag.hostile.views import View

_ROLE = r"(?:primary|supporting|tangential|discarded)"
_Q = r"(?:\\*[\"'])?"

_FORGED = re.compile(
    rf"\bcandidate_?ids?\b{_Q}\s*(?:[:=>]|<)"
    rf"|{_Q}\brankings?{_Q}\s*[:=]\s*(?:\[|\n?\s*-\s)"
    rf"|\brole{_Q}\s*(?:[:=>]|\bis\b)\s*{_Q}{_ROLE}\b"
    rf"|\b(?:verdict|role|ranking|label){_Q}\s*[:=]\s*{_Q}(?:primary|discarded|tangential)\b"
    rf"|\|\s*{_ROLE}\s*\|"
    rf"|:\s*{_ROLE}\s*[;,}}]"
    rf"|\bnot_found{_Q}\s*[:=]"
    r"|\brelevance[ _]score\s*[:=]\s*(?:100|10|1\.0)\b"
)
_TAG = (
    r"system|user|assistant|instructions?|passages?|snippets?|candidates?|rankings?|system_?message|system_?prompt|prompt|"
    r"human|judge|tool|function_results?|context|documents?|information|admin|developer|user_?query|im_start|im_end|"
    r"start_of_turn|end_of_turn|s|sys|question|answer|task|override|important"
)
_BOUNDARY = re.compile(
    r"<\|[a-z_ /][a-z_0-9 /]{0,38}\|>"
    r"|\[/?inst\]|<</?sys>>|<(?:start|end)_of_turn>|<end of session>"
    rf"|</?(?:{_TAG})(?:\s[^<>\n]{{0,80}})?/?>(?=[^<>]{{0,400}}</?(?:{_TAG})\b)"
    r"|</(?:system|user|assistant|instructions?|passages?|snippets?|candidates?|prompt|context|system_?message)>"
    r"|<(?:system|assistant|instructions?|system_?message|system_?prompt)>"
    r"|(?:^|\n)\s*(?:#{2,}|\*{2,}|={3,}|-{3,}|~{3,}|`{3,})[ \t]*[(\[]?(?:system|assistant|user|human|instructions?|new instructions)\b[_ a-z]{0,12}[)\]]?[ \t]*[:=*#\-\n]"
    r"|#{3}\s*\(?system"
    r"|[~`]{3}\s*system\b"
    r"|\[(?:system|assistant|user|admin|developer)(?:[ _](?:message|prompt|note|override))?\](?:\s*:|\(#|\[)"
    r"|\[rest-of-document\]"
    r"|\bsystem (?:message|prompt|instruction|override|note|update|notice)\s*:"
    r"|\b(?:end|start|begin(?:ning)?)[ _]of[ _](?:the[ _])?(?:user[ _]|system[ _])?(?:candidates?|passages?|snippets?|prompt|messages?|user input|untrusted input|instructions?|context|session|conversation)\b"
    r"|\bend of (?:input|document|text|data)s?\b[^\n]{0,20}[\s.\-=]{1,6}(?:begin|new|system|start|now)\b"
    r"|\bbegin (?:new|the real|hidden|system|admin) (?:task|instructions?|prompt|session|conversation)\b"
    rf"|{_Q}role{_Q}\s*:\s*{_Q}(?:system|assistant|user){_Q}"
    r"|\"\s*[\]}]\s*[\]}]\s*[\]}]?\s*(?=$|[{\n\"]|[a-z])"
    r"|\"\s*\}\s*,\s*\{\s*\"(?:candidate|id|methods|snippet|role|text|content)"
    r"|(?:^|\n)\s*(?:system|assistant)\s*:\s*(?:\S[^\n]*)?\n?[^\n]{0,200}\n\s*(?:user|human|assistant|system)\s*:"
    r"|(?:^|\n)\s*(?:human|user)\s*:[^\n]{0,300}\n+\s*(?:assistant|ai|system)\s*:"
    r"|(?:^|[`\n.}>])\s*(?:assistant|judge)\s*:\s*(?:[{<`]|p\d)"
    r"|```\s*\n?\s*(?:end|system)\b"
    r"|`{3}\s*\n\s*system\s*:"
    r"|(?:^|\n)[ \t]*(?:system|assistant)[ \t]*:[ \t]+(?=\S)"
    r"|\boverride\s*:|\bpriority (?:task|instruction)s?\s*:"
    r"|\((?:for )?(?:ai|assistant|llm)[a-z ]{0,20}\)\s*:"
)
_ID = re.compile(r"(?<![\w-])(?:d\d{1,3}-)?p\d{1,5}-l\d{1,4}(?![a-z0-9-])")
_SHORT_ID = re.compile(
    rf"(?<![\w-])n\d{{1,4}}(?![\w-])[^.\n]{{0,24}}\b(?:{_ROLE}|relevant candidate)\b|\b{_ROLE}\b[^.\n]{{0,24}}(?<![\w-])n\d{{1,4}}(?![\w-])"
)

_TOOL = re.compile(r"\b(?:call|use|invoke|run|execute|trigger)\s+(?:the\s+)?(?:tool\s+)?[a-z]{2,12}_[a-z]{2,12}(?:_[a-z]+)?\b\s+(?:to|on|with|and)\b")

_EXPORT = re.compile(
    r"\b(?:send|forward|e-?mail|post|upload|transmit|copy|exfiltrate|mail|submit|share)\b[^.\n]{0,80}"
    r"\b(?:all|full|entire|every|contents?|summary|data|records?|conversation|history|list|keys|tokens?|passwords?|credentials)\b"
    r"[^\n]{0,60}?(?:[a-z0-9._-]{1,40}@[a-z0-9]|https?://)"
    r"|!\[[^\]\n]{0,60}\]\(https?://[^)\s]{0,200}[?=]"
    r"|\{\s*\"(?:tool|function|tool_name|function_call|tool_call)s?\"\s*:"
    r"|<script\b|\bonerror\s*=|\bjavascript:"
    r"|<!--[^>]{0,200}\b(?:ai|assistant|llm|ignore|instructions?|prompt|agents?)\b"
)

_LETTER = r"[A-Za-z\u00c0-\u024f\u0370-\u03ff\u0400-\u04ff\u3040-\u30ff\u3400-\u9fff\uac00-\ud7a3]"
_JOINERS = "\u200b\u200c\u200d\u2060\u2061-\u2064\ufeff\u180e\u034f\u115f\u1160\u3164\uffa0"
_SPLIT_WORD = re.compile(rf"(?<={_LETTER})[{_JOINERS}]+(?={_LETTER})")
_BIDI = re.compile("[\u202a\u202b\u202d\u202e\u2066-\u2068]")
_RTL = re.compile("[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc]")
_TAGS = re.compile("(?<![\U0001f3f4\U000e0020-\U000e007f])[\U000e0000-\U000e007f]{2,}|[\U000e0100-\U000e01ef]{4,}|[\ufe00-\ufe0f]{4,}")
_NEAR = 40
"""Two split words within this many characters are a habit, one alone is a typesetter's break in a long name."""


def structures(view: View) -> Iterator[tuple[str, int, int]]:
    """Kind and place in the reading of what imitates replies, boundaries or ids."""
    for kind, pattern in (("forged_reply", _FORGED), ("boundary", _BOUNDARY), ("id_claim", _ID), ("id_claim", _SHORT_ID), ("instruction", _TOOL), ("instruction", _EXPORT)):
        for match in pattern.finditer(view.text):
            yield kind, match.start(), match.end()


def hidden(text: str) -> Iterator[tuple[int, int]]:
    """Place in the text of characters that hide or reorder it where no script needs them."""
    if text.isascii():
        return
    splits = [match.start() for match in _SPLIT_WORD.finditer(text)]
    for i, place in enumerate(splits):
        near = (i and place - splits[i - 1] <= _NEAR) or (i + 1 < len(splits) and splits[i + 1] - place <= _NEAR)
        if near:
            yield place, place + 1
    for match in _TAGS.finditer(text):
        yield match.start(), match.end()
    if _RTL.search(text) is None:
        for match in _BIDI.finditer(text):
            yield match.start(), match.end()
