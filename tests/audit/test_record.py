"""What a record holds: the brief as sent, the reply as it came, failures, and never a key."""

from __future__ import annotations

import logging
import math
from dataclasses import dataclass
from typing import Literal

import pytest

from arbiter_rag import Arbiter, Brief, JudgeError, OpenAIJudge, ParsedDocument, Passage
from arbiter_rag.audit import AuditLog
from arbiter_rag.audit.canonical import canonical
from arbiter_rag.judges.base import JudgeReply
from arbiter_rag.prompt import system_prompt, user_prompt
from arbiter_rag.replay import replay
from arbiter_rag.testing import FirstJudge, ScriptedJudge, ScriptedServer, answering

QUESTION = "What is the deductible for water damage?"
KEY = "sk-proj-abcdefghijklmnopqrstuvwx"


@pytest.mark.parametrize("api", ["chat", "responses"])
@pytest.mark.parametrize("structured", [True, False])
def test_the_brief_stands_there_as_it_was_sent(
    log: AuditLog, policy: ParsedDocument, api: Literal["chat", "responses"], structured: bool
) -> None:
    with ScriptedServer() as server:
        judge = OpenAIJudge(
            "gpt-5-mini", base_url=server.base_url, api_key=KEY, api=api, temperature=0.5, structured=structured
        )
        result = Arbiter(judge, audit=log, instructions="Riders prevail.").retrieve(QUESTION, policy)
        (sent,) = server.requests
    body = sent.body
    record = log.get(result.record_id or "")
    assert record.request is not None
    turns = {m["role"]: m["content"] for m in body["messages"]} if "messages" in body else {}
    assert record.request.system == turns.get("system", body.get("instructions"))
    assert record.request.user == turns.get("user", body.get("input"))
    assert record.request.sent
    assert record.request.model == "gpt-5-mini"
    assert record.request.parameters["temperature"] == 0.5
    assert record.result == result
    assert record.reply is not None
    assert record.timings["judge"] <= record.timings["total"]
    assert result.usage.milliseconds == record.timings["total"]
    assert KEY not in log.path.read_text(encoding="utf-8")
    assert replay(record).identical


def test_a_degraded_decision_holds_the_reply_that_was_no_use(
    log: AuditLog, policy: ParsedDocument, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.CRITICAL):
        result = Arbiter(ScriptedJudge("I would rather not."), audit=log).retrieve(QUESTION, policy)
    record = log.get(result.record_id or "")
    assert record.status == "degraded"
    assert record.reply is not None
    assert record.reply.text == "I would rather not."
    assert record.failure is not None
    assert record.failure.kind == "unusable"
    assert record.result == result


def test_a_failure_that_is_raised_is_recorded(log: AuditLog, policy: ParsedDocument) -> None:
    judge = ScriptedJudge(JudgeError(f"refused, key {KEY}", kind="refusal", raw="No."))
    with pytest.raises(JudgeError, match="refused"):
        Arbiter(judge, audit=log, on_error="raise").retrieve(QUESTION, policy)
    (record,) = log.records()
    assert record.status == "failed"
    assert record.result is None
    assert record.failure is not None
    assert record.failure.raw == "No."
    assert KEY not in log.path.read_text(encoding="utf-8")


@dataclass
class _Talkative:
    """A judge whose request holds what must never be written."""

    name: str = "talkative"
    calls_model: bool = True

    def request(self, brief: Brief) -> dict[str, object]:
        return {
            "model": "m",
            "api_key": KEY,
            "extra_headers": {"Authorization": f"Bearer {KEY}"},
            "extra_body": {"token": KEY, "note": f"with {KEY} inside"},
            "max_tokens": 7,
            "client": object(),
            "messages": [{"role": "system", "content": "S"}, {"role": "user", "content": user_prompt(brief)}],
        }

    def judge(self, brief: Brief) -> JudgeReply:
        return FirstJudge().judge(brief)

    async def ajudge(self, brief: Brief) -> JudgeReply:
        return self.judge(brief)


def test_no_key_is_ever_written(log: AuditLog, policy: ParsedDocument) -> None:
    result = Arbiter(_Talkative(), audit=log).retrieve(QUESTION, policy)
    assert KEY not in log.path.read_text(encoding="utf-8")
    request = log.get(result.record_id or "").request
    assert request is not None
    assert request.system == "S"
    assert request.parameters["max_tokens"] == 7
    assert request.parameters["client"] == "<object>"


@pytest.mark.parametrize(
    "raw",
    [
        {"rankings": [{"candidate_id": "n1", "reason": "r", "role": "primary", "quote": None}], "odd": math.nan},
        [{"candidate_id": "n1", "reason": "r", "role": "tangential"}],
        '```json\n{"rankings":[{"candidate_id":"n1","reason":"\ud800 \u2028","role":"primary"}]}\n```',
        b'{"rankings":[{"candidate_id":"n1","reason":"r","role":"discarded"}]}',
        answering({"n1": "supporting"}),
    ],
)
def test_replies_of_any_form_survive(log: AuditLog, raw: object) -> None:
    judge = ScriptedJudge(lambda _: JudgeReply(raw))
    passages = [Passage(id="a", text="The deductible is 150 euros.", score=math.nan)]
    result = Arbiter(judge, audit=log).rank("What is the deductible?", passages)
    assert log.verify().ok
    record = log.get(result.record_id or "")
    assert record.result is not None
    assert [c.role for c in record.result.candidates] == [c.role for c in result.candidates]
    assert not replay(record).differences


def test_canonical_json() -> None:
    value = {"b": [1.0, 0.1, 1e-07, 1e22, True, None], "a": "é\u2028<", "c": {"z": 1, "y": math.inf}, "d": "\ud800"}
    assert canonical(value) == (
        '{"a":"é\u2028<","b":[1.0,0.1,1e-07,1e+22,true,null],"c":{"y":"Infinity","z":1},"d":"\\ud800"}'.encode()
    )


def test_rules_are_asked_nothing_and_the_record_says_so(log: AuditLog, policy: ParsedDocument) -> None:
    result = Arbiter(audit=log).retrieve(QUESTION, policy)
    record = log.get(result.record_id or "")
    assert record.request is not None
    assert not record.request.sent
    assert record.request.system == system_prompt(record.brief)
    assert record.request.user == user_prompt(record.brief)
    assert record.brief == Arbiter().propose(QUESTION, policy)
    assert record.brief.hits


def test_without_a_log_nothing_is_recorded(policy: ParsedDocument) -> None:
    assert Arbiter().retrieve(QUESTION, policy).record_id is None
