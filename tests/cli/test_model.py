"""The command with a judge behind an OpenAI-compatible server: the real client, over loopback."""

from __future__ import annotations

import json

import pytest

from arbiter_rag import samples
from arbiter_rag.cli import main
from arbiter_rag.testing import Reply, ScriptedServer

POLICY = str(samples.path("policy_en"))
QUESTION = "What is the deductible for water damage?"
OPTIONS = ["--model", "some-model", "--no-cache", "--json"]


@pytest.fixture(autouse=True)
def _key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-test-0123456789")
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)


def test_a_model_decides_in_one_call(capfd: pytest.CaptureFixture[str]) -> None:
    with ScriptedServer() as server:
        status = main(
            ["ask", POLICY, QUESTION, *OPTIONS, "--base-url", server.base_url, "--instructions", "Amounts first."]
        )
    out, err = capfd.readouterr()
    result = json.loads(out)
    assert status == int(result["not_found"])
    assert "some-model" in result["judge"]
    assert result["status"] == "ok"
    assert server.count() == 1
    assert "Amounts first." in json.dumps(server.requests[0].body)
    assert err == ""


def test_the_environment_names_the_server(monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> None:
    with ScriptedServer() as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.base_url)
        main(["ask", POLICY, QUESTION, *OPTIONS])
    assert server.count() == 1
    assert "some-model" in json.loads(capfd.readouterr().out)["judge"]


def test_a_failing_model_is_seen(capfd: pytest.CaptureFixture[str]) -> None:
    with ScriptedServer(lambda _: Reply(status=500)) as server:
        status = main(["ask", POLICY, QUESTION, *OPTIONS, "--base-url", server.base_url])
    out, err = capfd.readouterr()
    assert status == 0
    assert json.loads(out)["status"] == "degraded"
    assert err.startswith("arbiter-rag: degraded: ")
    assert err.count("\n") == 1


def test_or_stops_the_command(capfd: pytest.CaptureFixture[str]) -> None:
    with ScriptedServer(lambda _: Reply(status=500)) as server:
        status = main(["ask", POLICY, QUESTION, *OPTIONS, "--base-url", server.base_url, "--on-error", "raise"])
    out, err = capfd.readouterr()
    assert (status, out, err.count("\n")) == (2, "", 1)
    assert err.startswith("arbiter-rag: error: ")


@pytest.mark.parametrize("code", [400, 401, 403, 404])
def test_a_wrong_setup_always_stops_it(code: int, capfd: pytest.CaptureFixture[str]) -> None:
    with ScriptedServer(lambda _: Reply(status=code)) as server:
        status = main(["ask", POLICY, QUESTION, *OPTIONS, "--base-url", server.base_url])
    out, err = capfd.readouterr()
    assert (status, out, err.count("\n")) == (2, "", 1)
    assert "sk-test" not in err
