"""A secret number in one message: a plain model of n-grams gives it away, a private one does not."""

from __future__ import annotations

import math

import numpy as np
import pytest

from discreet.attacks import extraction, guess_ceiling, invented_messages, ngrams
from discreet.attacks.models.text_extraction import PROMPT
from discreet.errors import InputError, ParameterError
from discreet.privacy import GaussianDP, PrivacyLoss, PureDP, Relation
from tests.chances import most

SEEDS = range(10)


def test_a_plain_model_gives_every_secret_away():
    for seed in SEEDS:  # nothing is drawn but from seeds
        messages, secret = invented_messages(people=500, digits=6, seed=seed)
        found = extraction(ngrams(messages, order=4), secret=secret)
        assert found.extracted
        assert found.guess == secret
        assert found.exposure == pytest.approx(math.log2(10**6))


@pytest.mark.theorem("extraction.privacy")
@pytest.mark.theorem("ngrams.privacy")
def test_a_private_model_names_no_more_secrets_than_its_ceiling(rounds):
    """Secrets of two digits, so that luck shows: a chance of at most 2.72 % at epsilon 1."""
    runs, named = rounds(sample=100, full=5000), 0
    for seed in range(runs):
        messages, secret = invented_messages(people=5, digits=2, seed=seed)
        found = extraction(ngrams(messages, order=3, epsilon=1), secret=secret)
        named += found.extracted
    assert found.ceiling is not None
    assert found.ceiling == pytest.approx(math.e / 100)
    assert named <= most(runs, found.ceiling)


def test_a_private_model_still_knows_the_language():
    messages, secret = invented_messages(people=4000, digits=6, seed=1)
    plain, private = (ngrams(messages[:2000], order=4, epsilon=price) for price in (None, 1))
    assert plain.right(messages[2000:2500]) > 0.75
    # noise of scale 9 turns a few rare contexts only: 0.01 of all continuations, and 0.2 would need most of them
    assert private.right(messages[2000:2500]) > 0.6
    assert extraction(plain, secret=secret).rank == 1


def test_a_private_model_hides_long_secrets():
    """Two of ten secrets are named with a chance of at most 45 (2.72e-6)^2 = 4e-10."""
    named = 0
    for seed in SEEDS:
        messages, secret = invented_messages(people=50, digits=6, seed=seed)
        named += extraction(ngrams(messages, order=3, epsilon=1), secret=secret).extracted
    assert named <= 1


def test_every_sum_of_counts_is_that_of_the_sequence():
    random = np.random.default_rng(1)
    model = ngrams(random.integers(0, 24, (300, 12)).tolist(), order=3)
    model.counts[...] = random.integers(0, 1000, model.counts.shape)
    found = extraction(model, secret=(3, 1, 4, 1))

    def total(digits):
        tokens = [*PROMPT[-2:], *digits]
        return sum(model.counts[tuple(tokens[place : place + 3])] for place in range(4))

    assert total(found.guess) == max(total(divmod_digits(number)) for number in range(10_000))
    above = sum(total(divmod_digits(number)) > total((3, 1, 4, 1)) for number in range(10_000))
    assert above < found.rank <= above + 10


def divmod_digits(number):
    return tuple(int(digit) for digit in f"{number:04d}")


@pytest.mark.parametrize("among", [2, 10, 10**6])
def test_the_ceiling_of_a_pure_price_is_that_of_the_best_guess(among):
    loss = PrivacyLoss.from_guarantee(PureDP(1, relation=Relation.ADD_REMOVE))
    least = min(math.e / among, 1 - (1 - 1 / among) / math.e)
    assert guess_ceiling(loss, among=among) == pytest.approx(least, rel=1e-6)
    gaussian = PrivacyLoss.from_guarantee(GaussianDP(0.5, relation=Relation.ADD_REMOVE))
    assert 1 / among < guess_ceiling(gaussian, among=among) < 1


def test_what_is_no_text_is_refused():
    for messages in (5, None, "my code is"):
        with pytest.raises(InputError, match="tokens from 0 to 23"):
            ngrams(messages, order=2)
    with pytest.raises(ParameterError, match="order"):
        ngrams([[1, 2]], order=9)
    model = ngrams([[1, 2, 3, 4]], order=4)
    with pytest.raises(InputError, match="1 to 7 digits"):
        extraction(model, secret=())
    with pytest.raises(InputError, match="at least 3 tokens"):
        extraction(model, prompt=(10,), secret=(1,))
    with pytest.raises(ParameterError, match="loss must be a price"):
        guess_ceiling(PureDP(1), among=10)  # type: ignore[arg-type]
    assert repr(model) == "NGrams(order 4, 24 tokens)"
    with pytest.raises(ParameterError, match="model"):
        extraction(None, secret=(1,))
    for odd in (None, "x", (4.5,), (-1,), ("1",), ([],), 3, (10,)):
        with pytest.raises(InputError, match="digits"):
            extraction(model, secret=odd)
    for odd in (None, (10, 11, 24), (-1, -1, -1), ("a", "b", "c")):
        with pytest.raises(InputError, match="prompt"):
            extraction(model, prompt=odd, secret=(1,))
    for messages in ([], [[1, 2]], [[24] * 9, [-1] * 9]):
        with pytest.raises(InputError, match="in a row"):
            model.right(messages)


@pytest.mark.parametrize(
    "odd", [[24, 0, 0], [-1, 2], ["a", 2], [2**70, 1], [1.5, 2], [math.nan, 1], [[1], 2], "ab", 7, None]
)
def test_a_message_of_anything_but_tokens_counts_for_nothing_and_is_not_shown(odd):
    counted = ngrams([[1, 2, 3], odd, [3, 4]], order=2).counts
    assert np.array_equal(counted, ngrams([[1, 2, 3], [3, 4]], order=2).counts)
    ngrams([odd], order=2, epsilon=1)
