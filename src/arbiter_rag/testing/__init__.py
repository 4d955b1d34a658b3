"""Doubles that users' own tests can import: a scripted server, scripted and biased judges, a hashing embedder."""

from arbiter_rag.testing.embedder import HashEmbedder
from arbiter_rag.testing.judges import FirstJudge, LastJudge, ScriptedJudge
from arbiter_rag.testing.obedient import ObedientJudge
from arbiter_rag.testing.replies import RecordedRequest, Reply, answering, candidates_in
from arbiter_rag.testing.server import ScriptedServer

__all__ = [
    "FirstJudge",
    "HashEmbedder",
    "LastJudge",
    "ObedientJudge",
    "RecordedRequest",
    "Reply",
    "ScriptedJudge",
    "ScriptedServer",
    "answering",
    "candidates_in",
]
