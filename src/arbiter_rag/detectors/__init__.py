"""One file, one way to notice a passage; each takes a parsed question and a document and gives hits."""

from arbiter_rag.detectors.base import Embedder
from arbiter_rag.detectors.caption import CaptionDetector
from arbiter_rag.detectors.embedding import EmbeddingDetector
from arbiter_rag.detectors.keyword import KeywordDetector
from arbiter_rag.detectors.page import PageDetector
from arbiter_rag.detectors.toc import TocDetector

__all__ = ["CaptionDetector", "Embedder", "EmbeddingDetector", "KeywordDetector", "PageDetector", "TocDetector"]
