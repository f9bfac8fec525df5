"""Hostile queries are refused with a reason before any data is read."""

from __future__ import annotations

import pytest

from discreet.errors import QueryRefused
from discreet.query.reading.query import read_answers
from tests.query.hostile import EXPECTED, HOSTILE
from tests.query.sample_policy import POLICY


def test_the_corpus_is_large_and_without_repetitions():
    texts = [sql for _, sql in HOSTILE]
    assert len(texts) >= 570
    assert len(set(texts)) == len(texts)


@pytest.mark.parametrize("place", range(len(EXPECTED)))
def test_hostile_queries_are_refused_each_with_its_reason(place):
    kind, texts = EXPECTED[place]
    for sql in texts:
        with pytest.raises(QueryRefused) as refusal:
            read_answers(sql, POLICY, evaluate=None)
        message = str(refusal.value)
        assert type(refusal.value) is kind, sql[:100]
        assert message.endswith(" Nothing was spent."), sql[:100]
        assert 40 < len(message) < 700, sql[:100]
        assert refusal.value.__cause__ is None
        assert refusal.value.__suppress_context__


def test_refusals_of_one_construct_do_not_hang_on_the_place_where_it_stands():
    for construct in ("RANDOM() > 1", "EXISTS (SELECT 1)", "ward ILIKE region", "cost > (SELECT 1)", "score = $1"):
        places = (
            "SELECT COUNT(*) FROM visits WHERE @",
            "SELECT COUNT_IF(@) FROM visits",
            "SELECT COUNT(*) FILTER (WHERE @) FROM visits",
            "SELECT @ AS k, COUNT(*) FROM visits GROUP BY k",
            "SELECT COUNT(*) FROM visits WHERE CASE WHEN @ THEN 1 ELSE 2 END = 1",
            "SELECT COUNT(*) FROM (SELECT @ AS k FROM visits)",
            "WITH a AS (SELECT * FROM visits WHERE @) SELECT COUNT(*) FROM a",
            "SELECT COUNT(*) FROM visits JOIN regions ON visits.code = regions.code WHERE NOT (@)",
        )
        messages = set()
        for sql in places:
            with pytest.raises(QueryRefused) as refusal:
                read_answers(sql.replace("@", construct), POLICY)
            messages.add(str(refusal.value))
        assert len(messages) == 1, messages
