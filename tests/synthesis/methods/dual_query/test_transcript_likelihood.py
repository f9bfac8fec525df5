"""The likelihood of DualQuery's draws: the same from both forms, its gradient, its concavity, and what it finds."""

from __future__ import annotations

import numpy as np
import pytest

from discreet.data.invention import coins
from discreet.synthesis import Domain, Records, conjunctions
from discreet.synthesis.methods.dual_query import transcript as subject
from discreet.synthesis.methods.dual_query.transcript import Round

DOMAIN = Domain.of({f"a{place}": range(3) for place in range(5)})


def evidence(rounds=20, spare=7, queries=60):
    random = coins(5)
    workload = conjunctions(DOMAIN, ways=2, count=queries, seed=1)
    support = Records(DOMAIN, random.integers(0, 3, (5, rounds + spare)).astype(np.uint16))
    drawn = [Round(turn, random.integers(0, queries, 30), random.choice([-1, 1], 30)) for turn in range(1, rounds + 1)]
    return subject.Evidence.of(workload, support, drawn, 0.4), workload, support, drawn


def slow(workload, support, drawn, weights, turns):
    """The sum over rounds and draws of the logarithm of the chance, as the law states it."""
    satisfied = np.stack([workload.truths(support.codes[:, place]) for place in range(len(support))]).astype(float)
    shares, total = weights @ satisfied, 0.0
    for turn in turns:
        score = 0.4 * ((turn - 1) * shares - satisfied[: turn - 1].sum(axis=0))
        mass = np.exp(score).sum() + np.exp(-score).sum()
        for query, sign in zip(drawn[turn - 1].queries, drawn[turn - 1].signs, strict=True):
            total += sign * score[query] - np.log(mass)
    return total


def weights_for(support, seed):
    weights = coins(seed).random(len(support))
    return weights / weights.sum()


def test_the_likelihood_is_that_of_the_law_and_the_gradient_its_slope():
    made, workload, support, drawn = evidence()
    weights = weights_for(support, 2)
    value, gradient = made.likelihood(weights)
    assert value == pytest.approx(slow(workload, support, drawn, weights, made.turns), rel=1e-9)
    for place in (0, 5, 26):
        step = np.zeros(len(support))
        step[place] = 1e-6
        slope = (made.likelihood(weights + step)[0] - made.likelihood(weights - step)[0]) / 2e-6
        assert gradient[place] == pytest.approx(slope, rel=1e-5, abs=1e-4)


def test_both_forms_agree(monkeypatch):
    made, _, support, _ = evidence()
    weights = weights_for(support, 3)
    compiled = made.likelihood(weights)
    monkeypatch.setattr(subject, "available", lambda: False)
    plain = made.likelihood(weights)
    assert compiled[0] == pytest.approx(plain[0], rel=1e-12)
    assert np.allclose(compiled[1], plain[1], rtol=1e-9, atol=1e-9)


def test_the_likelihood_is_concave_between_any_two_weights():
    made, _, support, _ = evidence()
    for seed in range(20):
        one, other = weights_for(support, seed), weights_for(support, 100 + seed)
        ends = made.likelihood(one)[0] + made.likelihood(other)[0]
        assert made.likelihood((one + other) / 2)[0] >= ends / 2 - 1e-9


def test_the_most_likely_weights_are_weights_and_more_likely_than_the_start():
    made, _, support, _ = evidence()
    start = np.full(len(support), 1 / len(support))
    found = subject.most_likely(made, start)
    assert found.min() >= 0
    assert found.sum() == pytest.approx(1)
    assert made.likelihood(found)[0] > made.likelihood(start)[0]


def test_huge_scores_do_not_overflow():
    _, workload, support, drawn = evidence()
    far = subject.Evidence.of(workload, support, drawn, 1e4)
    value, gradient = far.likelihood(weights_for(support, 1))
    assert np.isfinite(value)
    assert np.all(np.isfinite(gradient))


def test_more_rounds_than_sixteen_bits_count_are_counted():
    """A record that satisfies a query in every round: as many times as there were rounds before."""
    rounds = 66_000

    class Certain:
        """One query that every record satisfies."""

        truths = staticmethod(lambda _: np.ones(1, dtype=bool))
        __len__ = staticmethod(lambda: 1)

    support = Records(DOMAIN, np.zeros((5, rounds), dtype=np.uint16))
    made = subject.Evidence.of(Certain(), support, [Round(1, [0], [1])] * rounds, 1e-5)
    assert made.played[:, 0].tolist() == (made.turns - 1).tolist()
    assert made.turns[-1] == rounds


def test_draws_that_are_kept_once_each_count_as_often_as_they_were_drawn():
    _, workload, support, _ = evidence()
    rounds = [Round(turn, [4, 0, 4, 4, 0], [1, -1, 1, -1, 1]) for turn in (1, 2)]
    ((queries, net),) = subject.Evidence.of(workload, support, rounds, 0.4).drawn
    assert queries.tolist() == [0, 4]
    assert net.tolist() == [0, 1]


def test_the_weights_are_the_same_every_time():
    made, _, support, _ = evidence()
    start = np.full(len(support), 1 / len(support))
    assert np.array_equal(subject.most_likely(made, start), subject.most_likely(made, start))
