"""A scripted OpenAI-compatible server on loopback: real HTTP for tests, without a model."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any

from pydantic import BaseModel

from arbiter_rag.testing import wire
from arbiter_rag.testing.embedder import HashEmbedder
from arbiter_rag.testing.replies import RecordedRequest, Reply, Script, Scripted, answering, reply_of

_KEY_HEADERS = ("authorization", "api-key", "x-api-key", "cookie")
_COMPLETIONS = ("/chat/completions", "/responses")


class ScriptedServer:
    """An OpenAI-compatible server whose replies stand in a script; counts and keeps what it gets.

    It serves `/v1/chat/completions` and `/v1/responses` (JSON schema, tools, plain text, streaming), `/v1/embeddings`
    and `/v1/models`, and Azure's paths for these. Use it as a context manager:

        with ScriptedServer([{"rankings": [], "conflicts": []}]) as server:
            judge = OpenAIJudge("some-model", base_url=server.base_url)

    Args:
        script: What completions reply: replies consumed in turn (then 500), or a function of the request; by default
            `answering()`, which judges the candidates that it is shown.
        embeddings: What embeddings reply: None for hashed words, else a function texts -> vectors, or replies.
        models: Names that `/v1/models` lists.
        api_key: When set, requests with another key get 401.
    """

    def __init__(
        self,
        script: Script | None = None,
        *,
        embeddings: Callable[[list[str]], Sequence[Sequence[float]]] | Sequence[Scripted] | None = None,
        models: Sequence[str] = ("scripted-model",),
        api_key: str | None = None,
    ) -> None:
        self._script = _function_of(answering() if script is None else script)
        self._vectors = embeddings if callable(embeddings) else None
        self._embedding_script = None if callable(embeddings) or embeddings is None else _function_of(embeddings)
        self._models = tuple(models)
        self._api_key = api_key
        self._lock = threading.Lock()
        self._requests: list[RecordedRequest] = []
        self.stopping = threading.Event()
        self._server: _Http | None = None

    @property
    def base_url(self) -> str:
        """What to give a client as `base_url`."""
        if self._server is None:
            raise RuntimeError("The scripted server runs inside its `with` block only; enter it first.")
        return f"http://127.0.0.1:{self._server.server_address[1]}/v1"

    @property
    def requests(self) -> list[RecordedRequest]:
        """Everything that came in, in order; keys are left out."""
        with self._lock:
            return list(self._requests)

    def count(self, path: str = "") -> int:
        """How many requests came in whose path ends in `path`; by default completions of either kind."""
        ends = (path,) if path else _COMPLETIONS
        return sum(request.path.endswith(ends) for request in self.requests)

    def __enter__(self) -> ScriptedServer:
        self.stopping.clear()
        self._server = _Http(self)
        threading.Thread(target=self._server.serve_forever, args=(0.02,), daemon=True).start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stopping.set()
        if self._server is not None:
            self._server.shutdown()
            self._server.server_close()
            self._server = None

    def answer(self, request: RecordedRequest, key: str | None) -> tuple[Reply, wire.Json | Iterator[str]]:
        """The reply to a request: how it is sent, and its body or the events of its stream."""
        with self._lock:
            self._requests.append(request)
            reply = self._next(request, key)
        if reply.status >= 400:
            return reply, wire.error_body(reply)
        body = request.body if isinstance(request.body, dict) else {}
        if request.path.endswith("/models"):
            listed = [{"id": name, "object": "model", "created": 0, "owned_by": "script"} for name in self._models]
            return reply, {"object": "list", "data": listed}
        if request.path.endswith("/embeddings"):
            return reply, self._embeddings(body, reply)
        chat = request.path.endswith("/chat/completions")
        if body.get("stream"):
            return reply, (wire.chat_stream if chat else wire.response_stream)(body, reply)
        return reply, (wire.chat_body if chat else wire.response_body)(body, reply)

    def _next(self, request: RecordedRequest, key: str | None) -> Reply:
        if self._api_key is not None and key != self._api_key:
            return Reply("Incorrect API key provided.", status=401, code="invalid_api_key")
        if request.path.endswith(_COMPLETIONS):
            return self._script(request)
        if request.path.endswith("/embeddings"):
            return self._embedding_script(request) if self._embedding_script is not None else Reply()
        if request.path.endswith("/models"):
            return Reply()
        return Reply(f"Unknown path {request.path}", status=404)

    def _embeddings(self, body: wire.Json, reply: Reply) -> wire.Json:
        if isinstance(reply.content, dict):
            return reply.content
        given = body.get("input", [])
        texts = [given] if isinstance(given, str) else list(given)
        if self._vectors is not None:
            return wire.embeddings_body(body, self._vectors(texts))
        vectors = HashEmbedder(int(body.get("dimensions") or 64)).embed([str(text) for text in texts])
        return wire.embeddings_body(body, vectors.tolist())


class _Http(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False
    request_queue_size = 256

    def __init__(self, scripted: ScriptedServer) -> None:
        self.scripted = scripted
        super().__init__(("127.0.0.1", 0), _Handler)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Silent: clients that give up are part of the tests."""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    timeout = 30
    server: _Http

    def do_GET(self) -> None:
        self._serve(None)

    def do_POST(self) -> None:
        data = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        try:
            self._serve(json.loads(data) if data else None)
        except ValueError:
            self._serve(data.decode("utf-8", "replace"))

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002  the base class names it so
        """Silent."""

    def _serve(self, body: Any) -> None:
        kept = {name.lower(): value for name, value in self.headers.items() if name.lower() not in _KEY_HEADERS}
        request = RecordedRequest(self.path.partition("?")[0], kept, body, self.command)
        key = self.headers.get("Authorization", "").removeprefix("Bearer ") or self.headers.get("api-key")
        reply, answer = self.server.scripted.answer(request, key)
        self.server.scripted.stopping.wait(reply.delay)
        if reply.drop_after == -1:
            self._hang_up()
            return
        if reply.raw is not None or isinstance(answer, dict):
            data = reply.raw
            if data is None:
                data = json.dumps(answer, ensure_ascii=False).encode("utf-8", "replace")
            self._send(reply, [data], reply.content_type, length=len(data))
        else:
            self._send(reply, (event.encode() for event in answer), "text/event-stream", length=None)

    def _send(self, reply: Reply, pieces: Iterable[bytes], content_type: str, length: int | None) -> None:
        self.send_response(reply.status)
        for name, value in {"Content-Type": content_type, **reply.headers}.items():
            self.send_header(name, value)
        if length is None:
            self.send_header("Connection", "close")
        else:
            self.send_header("Content-Length", str(length))
        self.end_headers()
        sent = 0
        for piece in pieces:
            for part in [piece] if not reply.drip else (piece[at : at + 1] for at in range(len(piece))):
                if reply.drop_after is not None and sent + len(part) > reply.drop_after:
                    self.wfile.write(part[: reply.drop_after - sent])
                    self._hang_up()
                    return
                self.wfile.write(part)
                self.wfile.flush()
                sent += len(part)
                if reply.drip and self.server.scripted.stopping.wait(reply.drip):
                    self._hang_up()
                    return
        self.close_connection = self.close_connection or length is None

    def _hang_up(self) -> None:
        self.wfile.flush()
        self.close_connection = True


def _function_of(script: Script) -> Callable[[RecordedRequest], Reply]:
    """The script as a function; a single reply repeats, a list is used up."""
    if callable(script):
        return lambda request: reply_of(script(request))
    if isinstance(script, (Reply, BaseModel, dict, str, bytes, int)):
        only = reply_of(script)
        return lambda request: only
    left = iter([reply_of(item) for item in script])
    spent = Reply("The script has no reply left.", status=500, code="script_used_up")
    return lambda request: next(left, spent)
