"""Where the real small model is: a running server, or one started for the session."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

SERVE = Path(__file__).with_name("serve.py")


@pytest.fixture(scope="session")
def local_url() -> Iterator[str]:
    """Base URL of llama.cpp's server.

    `ARBITER_LOCAL_LLM` is the URL of one that runs, or the path of a Python that has the packages `serve.py` needs
    (`1` for this one); unset, the tests are skipped.
    """
    wanted = os.environ.get("ARBITER_LOCAL_LLM", "")
    if not wanted:
        pytest.skip("needs a local model: set ARBITER_LOCAL_LLM to a server's URL, or to a Python with xllamacpp")
    if wanted.startswith("http"):
        yield wanted
        return
    python = sys.executable if wanted == "1" else wanted
    with subprocess.Popen([python, str(SERVE)], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as server:
        try:
            assert server.stdout is not None
            url = server.stdout.readline().strip()
            assert url.startswith("http://127.0.0.1:"), f"{python} {SERVE} did not start; run it by hand to see why"
            yield url
        finally:
            server.terminate()
