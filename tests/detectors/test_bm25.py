"""BM25 from postings gives rank-bm25's numbers, bit for bit."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from rank_bm25 import BM25Okapi

from arbiter_rag.detectors.bm25 import Bm25

WORDS = st.sampled_from([f"w{i}" for i in range(12)])
CORPUS = st.lists(st.lists(WORDS, min_size=1, max_size=15), min_size=1, max_size=25)


@given(corpus=CORPUS, query=st.lists(WORDS, max_size=8))
def test_scores_equal_rank_bm25(corpus: list[list[str]], query: list[str]) -> None:
    model, vocabulary = Bm25.of_tokens(corpus)
    ours = model.scores((vocabulary[t], 1.0) for t in query if t in vocabulary)
    theirs = BM25Okapi(corpus).get_scores([t for t in query if t in vocabulary])
    assert np.allclose(ours, theirs, rtol=1e-12, atol=1e-12)


@given(corpus=CORPUS)
def test_postings_name_the_passages_that_hold_a_term(corpus: list[list[str]]) -> None:
    model, vocabulary = Bm25.of_tokens(corpus)
    for word, term in vocabulary.items():
        assert model.postings(term).tolist() == [i for i, passage in enumerate(corpus) if word in passage]


def test_no_passages_score_nothing() -> None:
    model, _ = Bm25.of_tokens([])
    assert model.scores([]).tolist() == []
