"""One request to an OpenAI-compatible service: clients, total deadline, retries, and what each failure means."""

from __future__ import annotations

import asyncio
import atexit
import contextvars
import importlib.util
import inspect
import logging
import os
import random
import threading
import time
import weakref
from collections.abc import Awaitable, Callable
from concurrent.futures import Future
from dataclasses import dataclass
from typing import Any, NoReturn, Protocol, TypeVar
from urllib.parse import urlsplit

from arbiter_rag.errors import ArbiterError, ConfigurationError
from arbiter_rag.openai_service.failures import Failure, failure_of, scrubbed

log = logging.getLogger(__name__)

T = TypeVar("T")
OPENAI_URL = "https://api.openai.com/v1"
_AZURE_HOSTS = (".openai.azure.com", ".cognitiveservices.azure.com", ".services.ai.azure.com", ".openai.azure.us")
_RETRIES = 2
_FIRST_WAIT = 0.5


class PassingError(Protocol):
    """Makes the error of a failure that may pass: `JudgeError` and `EmbeddingError` have this form."""

    def __call__(self, message: str, *, kind: str, attempts: int) -> ArbiterError: ...


@dataclass(frozen=True, slots=True)
class Answer:
    """What a service sent back, as the client parsed it, and how many requests it took."""

    response: Any
    attempts: int


class Service:
    """A service and how to reach it; safe between threads and event loops.

    Clients of our own live on a private event loop, so that their connections outlast the caller's loops and a sync
    call can be cut off at its deadline too. A client of the caller's is used where it belongs: an async one on the
    running loop, a sync one in a thread.

    Args:
        client, async_client: The caller's own `openai` clients, kept as they are except that they must not retry.
        base_url: Where the service is; else `OPENAI_BASE_URL`, else OpenAI.
        api_key: Else `OPENAI_API_KEY`; services other than OpenAI may need none.
        timeout: Seconds for one call, retries and waits included.
        error: Makes the error of a passing failure.
        model: The model's name, for messages.
    """

    def __init__(
        self,
        *,
        client: Any,
        async_client: Any,
        base_url: str | None,
        api_key: str | None,
        timeout: float,
        error: PassingError,
        model: str,
    ) -> None:
        if not model or not model.strip():
            raise ConfigurationError("A model's name was expected, an empty one came; pass e.g. 'gpt-5-mini'.")
        if not timeout > 0:
            raise ConfigurationError(f"timeout is the seconds a call may take, above 0; got {timeout!r}.")
        _require_package()
        _check_clients(client, async_client, base_url, api_key)
        given = client if client is not None else async_client
        self._client = _without_retries(client)
        self._async_client = _without_retries(async_client)
        self._given = given is not None
        self.timeout = float(timeout)
        self.model = model
        self.base_url = _resolved_url(base_url) if given is None else _url_of(given)
        self._api_key = None if given is not None else _resolved_key(api_key, self.base_url)
        self._secrets = tuple(k for k in (self._api_key, getattr(given, "api_key", None)) if isinstance(k, str) and k)
        self._error = error
        self._making = threading.Lock()
        self._own: tuple[int, Any] | None = None

    @property
    def host(self) -> str:
        """Host and port of the service."""
        return urlsplit(self.base_url).netloc.rpartition("@")[2]

    @property
    def is_openai(self) -> bool:
        """Whether this is OpenAI or Azure OpenAI, by the base URL alone."""
        host = urlsplit(self.base_url).hostname or ""
        return host == "openai.com" or host.endswith((".openai.com", *_AZURE_HOSTS))

    def call(self, ask: Callable[[Any, float], Any]) -> Answer:
        """Ask once, within the timeout; `ask(client, seconds)` makes the request and leaves at most that long."""
        if not self._given:
            return _wait_for(asyncio.run_coroutine_threadsafe(self._ask_own(ask), _private_loop()))
        if self._client is None:
            raise ConfigurationError("A synchronous call needs a synchronous client; pass client=openai.OpenAI(...).")
        progress = [0]
        try:
            return _in_thread(lambda: self._ask_sync(ask, progress)).result(self.timeout)
        except TimeoutError:
            self._raise_timeout(progress[0])

    async def acall(self, ask: Callable[[Any, float], Any]) -> Answer:
        """As `call`, without blocking the event loop; cancelling it cancels the request."""
        if not self._given:
            return await asyncio.wrap_future(asyncio.run_coroutine_threadsafe(self._ask_own(ask), _private_loop()))
        if self._async_client is not None:
            return await self._ask_async(self._async_client, ask)
        progress = [0]
        future = _in_thread(lambda: self._ask_sync(ask, progress))
        try:
            return await asyncio.wait_for(asyncio.wrap_future(future), self.timeout)
        except TimeoutError:
            self._raise_timeout(progress[0])

    async def _ask_own(self, ask: Callable[[Any, float], Any]) -> Answer:
        own = self._own
        if own is None or own[0] != os.getpid():
            # Importing openai takes half a second and reading certificates a tenth: neither may stop a loop.
            own = await asyncio.to_thread(self._make_own)
        return await self._ask_async(own[1], ask)

    def _make_own(self) -> tuple[int, Any]:
        with self._making:
            if self._own is None or self._own[0] != os.getpid():
                client = _openai().AsyncOpenAI(base_url=self.base_url, api_key=self._api_key, max_retries=0)
                self._own = (os.getpid(), client)
                weakref.finalize(self, _close_later, client)
            return self._own

    async def _ask_async(self, client: Any, ask: Callable[[Any, float], Awaitable[Any]]) -> Answer:
        attempts = 0
        deadline = time.monotonic() + self.timeout
        try:
            async with asyncio.timeout(self.timeout):
                while True:
                    attempts += 1
                    try:
                        return Answer(await ask(client, deadline - time.monotonic()), attempts)
                    except Exception as error:  # noqa: BLE001  every failure is given its meaning, or raised again
                        wait = self._wait_or_raise(error, attempts, deadline - time.monotonic())
                    await asyncio.sleep(wait)
        except TimeoutError:
            self._raise_timeout(attempts)

    def _ask_sync(self, ask: Callable[[Any, float], Any], progress: list[int]) -> Answer:
        deadline = time.monotonic() + self.timeout
        while True:
            progress[0] += 1
            try:
                return Answer(ask(self._client, deadline - time.monotonic()), progress[0])
            except Exception as error:  # noqa: BLE001  every failure is given its meaning, or raised again
                wait = self._wait_or_raise(error, progress[0], deadline - time.monotonic())
            time.sleep(wait)

    def _wait_or_raise(self, error: Exception, attempts: int, remaining: float) -> float:
        """Seconds to wait before the next attempt, or the error that ends the call."""
        failure = failure_of(error, model=self.model, where=self.host)
        if failure is None:
            raise error
        if failure.permanent:
            raise ConfigurationError(scrubbed(failure.message, self._secrets)) from None
        wait = failure.retry_after
        if wait is None:
            # Spread out: many questions that were turned away together should not come back together.
            wait = _FIRST_WAIT * 2 ** (attempts - 1) * random.uniform(1.0, 1.25)
        if failure.kind == "timeout":
            self._raise_timeout(attempts)
        if not failure.retry or attempts > _RETRIES or wait >= remaining:
            self._raise(failure, attempts)
        log.info("Asking %s again in %.1f s: %s", self.host, wait, failure.kind)
        return wait

    def _raise(self, failure: Failure, attempts: int) -> NoReturn:
        raise self._error(scrubbed(failure.message, self._secrets), kind=failure.kind, attempts=attempts) from None

    def _raise_timeout(self, attempts: int) -> NoReturn:
        message = f"{self.host} gave no whole reply within {self.timeout:g} s; raise timeout= or ask a faster model."
        raise self._error(message, kind="timeout", attempts=max(attempts, 1)) from None


def _require_package() -> None:
    try:
        found = importlib.util.find_spec("openai") is not None
    except ImportError:
        found = False
    if not found:
        raise ConfigurationError("The openai package is needed and not installed; pip install 'arbiter-rag[openai]'.")


def _openai() -> Any:
    try:
        import openai
    except ImportError as error:
        raise ConfigurationError(
            f"The openai package cannot be imported ({error}); pip install 'arbiter-rag[openai]'."
        ) from error
    return openai


def _check_clients(client: Any, async_client: Any, base_url: str | None, api_key: str | None) -> None:
    if client is None and async_client is None:
        return
    if base_url is not None or api_key is not None:
        raise ConfigurationError(
            "A client brings its own base_url and api_key: set them there, or pass them here without a client."
        )
    for given, name, wants_async in ((client, "client", False), (async_client, "async_client", True)):
        close = getattr(given, "close", None)
        if close is not None and inspect.iscoroutinefunction(close) is not wants_async:
            kind = "an openai.AsyncOpenAI" if wants_async else "an openai.OpenAI"
            raise ConfigurationError(f"{name}= is expected to be {kind} client; got {type(given).__name__}.")


def _url_of(client: Any) -> str:
    return str(getattr(client, "base_url", None) or OPENAI_URL).rstrip("/")


def _resolved_url(base_url: str | None) -> str:
    url = (base_url or os.environ.get("OPENAI_BASE_URL") or "").strip().rstrip("/") or OPENAI_URL
    parts = urlsplit(url)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise ConfigurationError(
            f"base_url is expected like 'http://localhost:11434/v1', got {url!r}; write it with http:// or https://."
        )
    return url


def _resolved_key(api_key: str | None, base_url: str) -> str:
    key = (api_key or os.environ.get("OPENAI_API_KEY") or "").strip()
    if key and not (key.isascii() and key.isprintable() and " " not in key):
        raise ConfigurationError(
            "A key is printable ASCII without spaces; the one set is not: copy it anew into api_key= or OPENAI_API_KEY."
        )
    if key:
        return key
    host = urlsplit(base_url).hostname or ""
    if host.endswith(("openai.com", *_AZURE_HOSTS)):
        raise ConfigurationError(f"{host} needs a key and none is set; pass api_key= or set OPENAI_API_KEY.")
    # The client insists on a key; servers on one's own machine ask for none.
    return "none"


def _without_retries(client: Any) -> Any:
    """The caller's client with its own retries off, since attempts are counted here.

    One that does not retry is used as it is: tracing that was patched onto the object stays in place.
    """
    if client is None or getattr(client, "max_retries", 0) == 0:
        return client
    return client.with_options(max_retries=0)


# --- the private event loop and threads -------------------------------------------------------------------------

_lock = threading.Lock()
_loops: dict[int, asyncio.AbstractEventLoop] = {}


def _private_loop() -> asyncio.AbstractEventLoop:
    """This process's event loop for our own clients; a forked child gets one of its own."""
    with _lock:
        loop = _loops.get(os.getpid())
        if loop is None:
            loop = _loops[os.getpid()] = asyncio.new_event_loop()
            threading.Thread(target=loop.run_forever, name="arbiter-openai", daemon=True).start()
        return loop


def _close_later(client: Any) -> None:
    loop = _loops.get(os.getpid())
    if loop is not None and loop.is_running():
        asyncio.run_coroutine_threadsafe(client.close(), loop)


@atexit.register
def _stop() -> None:
    loop = _loops.pop(os.getpid(), None)
    if loop is not None:
        loop.call_soon_threadsafe(loop.stop)


def _wait_for(future: Future[T]) -> T:
    try:
        return future.result()
    except BaseException:
        future.cancel()  # an interrupted caller must not leave its request running
        raise


def _in_thread(work: Callable[[], T]) -> Future[T]:
    """Run `work` in a daemon thread of its own: it may outlast its caller's patience, but not the process."""
    future: Future[T] = Future()
    context = contextvars.copy_context()

    def run() -> None:
        try:
            value = context.run(work)
        except BaseException as error:  # noqa: BLE001  handed to whoever waits
            if not future.cancelled():
                future.set_exception(error)
        else:
            if not future.cancelled():
                future.set_result(value)

    threading.Thread(target=run, name="arbiter-openai-call", daemon=True).start()
    return future
