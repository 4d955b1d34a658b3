"""Tries what was built: `smoke.py size WHEEL`, and from an environment of its own `smoke.py core|pdf|integrations`."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from importlib.resources import files
from pathlib import Path
from zipfile import ZipFile

LARGEST = 420_000
"""Bytes that the core's wheel may have without the samples."""

PROGRAM = str(Path(sys.executable).with_name("arbiter-rag"))


def run(*arguments: str, status: int) -> subprocess.CompletedProcess[str]:
    """Run the installed command and check its exit status."""
    done = subprocess.run([PROGRAM, *arguments], capture_output=True, text=True, check=False)
    if done.returncode != status or "Traceback" in done.stderr:
        sys.exit(f"smoke: {arguments} ended with {done.returncode}, not {status}:\n{done.stdout}{done.stderr}")
    return done


def core() -> None:
    """Without extras: it imports, carries its types, and says which extra reads PDFs."""
    import arbiter_rag
    from arbiter_rag import samples

    assert (files(arbiter_rag) / "py.typed").is_file()
    assert "site-packages" in str(arbiter_rag.__file__), arbiter_rag.__file__
    assert all(samples.path(name).is_file() for name in samples.NAMES)
    assert run("--version", status=0).stdout.startswith("arbiter-rag ")
    refused = run("ask", str(samples.path("policy_en")), "What is the deductible?", "--no-cache", status=2)
    assert "arbiter-rag[pdf]" in refused.stderr, refused.stderr


def pdf() -> None:
    """With the pdf extra: a question is answered, and one is not."""
    from arbiter_rag import samples

    policy = str(samples.path("policy_en"))
    found = run("ask", policy, "What is the deductible for water damage?", "--json", "--no-cache", status=0)
    assert json.loads(found.stdout)["candidates"][0]["role"] == "primary"
    run("ask", policy, "Who won the chess tournament in Reykjavik?", "--no-cache", status=1)
    run("inspect", policy, "--no-cache", status=0)


def integrations() -> None:
    """Both integrations import beside one another, with their types, and answer."""
    import arbiter_rag
    import langchain_arbiter
    from llama_index.postprocessor import arbiter as postprocessor
    from llama_index.retrievers import arbiter as retrievers

    for module in (langchain_arbiter, postprocessor, retrievers):
        assert (files(module) / "py.typed").is_file(), module

    from arbiter_rag import samples

    retriever = langchain_arbiter.ArbiterRetriever.from_pdf(samples.path("policy_en"))
    found = retriever.invoke("What is the deductible for water damage?")
    assert found[0].metadata["arbiter_role"] == "primary", found

    rules = arbiter_rag.RuleJudge()
    nodes = retrievers.ArbiterRetriever.from_pdf(samples.path("policy_en"), judge=rules).retrieve(
        "What is the deductible for water damage?"
    )
    assert nodes[0].metadata["arbiter_role"] == "primary", nodes
    post = postprocessor.ArbiterNodePostprocessor(judge=rules, top_n=2)
    assert len(post.postprocess_nodes(nodes, query_str="What is the deductible for water damage?")) == 2


def size(wheel: str) -> None:
    """The wheel stays small."""
    with ZipFile(wheel) as parts:
        packed = sum(p.compress_size for p in parts.infolist() if not p.filename.endswith(".pdf"))
    assert packed < LARGEST, f"{packed:,} bytes without the samples, {LARGEST:,} are allowed"


if __name__ == "__main__":
    os.environ.pop("PYTHONPATH", None)
    what, *arguments = sys.argv[1:]
    {"size": size, "core": core, "pdf": pdf, "integrations": integrations}[what](*arguments)
    print(f"smoke: {what} ok")
