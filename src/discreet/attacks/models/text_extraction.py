"""Extraction of a secret from a model of text: which number follows a known prompt, by the counts of n-grams."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.data.invention import coins
from discreet.data.table import check_whole
from discreet.display.result import Row, told_in_rows
from discreet.errors import InputError, ParameterError
from discreet.laws.number import Number, round_up
from discreet.privacy import PrivacyLoss, PureDP, Relation
from discreet.privacy.numbers import exactly, positive_price, whole
from discreet.statistics.pricing import NoisyVector

Message = Sequence[int]
Digits = tuple[int, ...]
DIGITS = 10
WORDS = 14
PROMPT = (10, 11, 12)  # the words 'my code is'
_LENGTH = 12
_MOST_CELLS, _MOST_DIGITS = 1 << 24, 7


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class NGrams:
    """A model of text: how often each n-gram occurs, as it was published; tokens 0 to 9 are digits, others words.

    `loss` is the price of the counts, if they had one.
    """

    counts: NDArray[np.float64]
    loss: PrivacyLoss | None = None

    @property
    def order(self) -> int:
        """How many tokens an n-gram has."""
        return self.counts.ndim

    def right(self, messages: Sequence[Message]) -> float:
        """Return how often the most frequent continuation is the right one, in messages that the model has not seen."""
        following = self.counts.argmax(axis=-1)
        read = [_tokens(one, cut=False) for one in messages]
        grams = np.array([one[place : place + self.order] for one in read for place in _starts(one, self.order)])
        if not len(grams):
            raise InputError(f"messages must hold {self.order} tokens in a row somewhere; got none")
        return float(np.mean(following[tuple(grams[:, :-1].T)] == grams[:, -1]))

    def __repr__(self) -> str:
        return f"NGrams(order {self.order}, {self.counts.shape[0]} tokens)"


@told_in_rows
@dataclass(frozen=True, slots=True, eq=False, repr=False)
class TextExtraction:
    """What follows the prompt by the model's counts, and the rank of the truth among all secrets of its length.

    `ceiling`, if the model had a price, is a chance that no attack exceeds of naming a secret that is drawn at random.
    """

    guess: Digits
    secrets: int
    rank: int
    ceiling: float | None

    @property
    def extracted(self) -> bool:
        """Whether the secret was named at the first attempt."""
        return self.rank == 1

    @property
    def exposure(self) -> float:
        """By how many bits the model has narrowed the search for the secret: log2 of all secrets over the rank."""
        return math.log2(self.secrets / self.rank)

    def _rows(self) -> list[Row]:
        """Return what people want to read, in order; the ceiling is rounded up."""
        return [
            ("secrets", f"{self.secrets:,}"),
            ("rank of the truth", f"{self.rank:,}"),
            ("exposure", f"{self.exposure:.1f} bits"),
            ("ceiling", None if self.ceiling is None else f"{self.ceiling:.3g}"),
        ]


def ngrams(messages: Sequence[Message], *, order: int, epsilon: Number | None = None) -> NGrams:
    """Count all n-grams of messages, one a person; with a price every count, of n-grams that never occur too, is noisy.

    Messages are lists of tokens, 0 to 9 for digits and 10 to 23 for words, and are cut to 12 of them; one with anything
    else among them counts for nothing.

    Privacy. With a price the counts are epsilon-DP for a person more or less.
        Proof: a message has at most 13 - n n-grams, so it moves the counts by at most that in L1, and they have
        discrete Laplace noise of that over epsilon. Which counts there are is public: all of them.
    Cost. One draw an n-gram that can be written, 24^n in all.

    >>> model = ngrams([[10, 11, 12, 4, 7]], order=4)
    >>> model.counts[10, 11, 12, 4], model.counts.sum()
    (np.float64(1.0), np.float64(2.0))
    """
    check_whole("order", order, low=2, high=5)
    tokens = DIGITS + WORDS
    if tokens**order > _MOST_CELLS:
        raise ParameterError("order must be smaller; got more n-grams than fit, write order=4", parameter="order")
    counts = np.zeros((tokens,) * order, dtype=np.int64)
    if not isinstance(messages, Iterable) or isinstance(messages, str):
        raise InputError(f"messages must be lists of tokens from 0 to {tokens - 1}; got another, write [[1, 2], ...]")
    for message in messages:
        kept = _tokens(message)
        for place in _starts(kept, order):
            counts[kept[place : place + order]] += 1
    if epsilon is None:
        return NGrams(counts.astype(np.float64))
    price = positive_price(epsilon, name="epsilon")
    noise = NoisyVector.laplace(epsilon=price, sensitivity=_LENGTH + 1 - order, relation=Relation.ADD_REMOVE)
    loss = PrivacyLoss.from_guarantee(PureDP(exactly(price), relation=Relation.ADD_REMOVE))
    return NGrams(np.asarray(noise(counts), dtype=np.float64), loss)


def extraction(model: NGrams, *, prompt: Message = PROMPT, secret: Message) -> TextExtraction:
    """Name the digits that follow a prompt: of all sequences of so many digits, the one whose n-grams count most.

    The attacker knows the model, the prompt and the number of digits; `secret`, the truth, says only where it stands
    among all sequences. Of equal ones the first is named.

    Privacy. Where the model has a price, and the secret is one of N drawn at random for one person's message, it is
        named with a chance of at most `guess_ceiling` of the price and N, by any attack.
        Proof: without the message, or with another in its place, the model does not depend on the secret, and any guess
        is right with the chance 1/N. That it is right is an event, which has at most the chance 1 - f(1/N) on a
        neighboring table, f being the trade-off curve of the price.
    Cost. A sum of 10^k numbers for k digits.
    Reference. Carlini, Liu, Erlingsson, Kos, Song 2019.

    >>> messages, secret = invented_messages(people=500, digits=6, seed=1)
    >>> extraction(ngrams(messages, order=4), secret=secret).guess == secret
    True
    """
    if not isinstance(model, NGrams):
        raise ParameterError("model must be counts of n-grams; got another, write ngrams(...)", parameter="model")
    truth, begun = _tokens(secret), _tokens(prompt, cut=False)
    if not 1 <= len(truth) <= _MOST_DIGITS or not all(digit < DIGITS for digit in truth):
        raise InputError(f"secret must be 1 to {_MOST_DIGITS} digits; got others, write secret=(4, 7, 1)")
    if len(begun) < model.order - 1:
        raise InputError(f"prompt must have at least {model.order - 1} tokens; got fewer")
    totals = np.zeros(())
    for place in range(len(truth)):
        known = begun[len(begun) - (model.order - 1) + place :] if place < model.order - 1 else ()
        part = model.counts[known][(slice(DIGITS),) * (model.order - len(known))]
        totals = totals[..., np.newaxis] + part  # the last digits are the context, broadcast over those before
    flat, own = totals.ravel(), int(np.ravel_multi_index(truth, totals.shape))
    rank = 1 + int(np.count_nonzero(flat > flat[own]) + np.count_nonzero(flat[:own] == flat[own]))
    guess = tuple(int(digit) for digit in np.unravel_index(int(flat.argmax()), totals.shape))
    top = None if model.loss is None else guess_ceiling(model.loss, among=len(flat))
    return TextExtraction(guess, len(flat), rank, top)


def guess_ceiling(loss: PrivacyLoss, *, among: int) -> float:
    """Return the largest chance that any attack names a secret that is one of so many; rounded up.

    >>> from discreet.privacy import PureDP, PrivacyLoss, Relation
    >>> price = PureDP(1, relation=Relation.ADD_REMOVE)
    >>> guess_ceiling(PrivacyLoss.from_guarantee(price), among=1_000_000)
    2.718...e-06
    """
    if not isinstance(loss, PrivacyLoss):
        raise ParameterError("loss must be a price, such as PureDP(1).loss; got another", parameter="loss")
    missed = loss.tradeoff(Fraction(1, whole(among, name="among"))).lower
    return min(1.0, round_up(1 - Fraction(missed)))


def invented_messages(*, people: int, digits: int, seed: int) -> tuple[list[list[int]], Digits]:
    """Invent messages of words, the first of which ends with 'my code is' and a secret; return them and the secret.

    Every word is followed by one of two, so that the messages are alike and a model has something to learn.

    >>> messages, secret = invented_messages(people=3, digits=4, seed=1)
    >>> len(messages), len(secret), [len(message) for message in messages]
    (3, 4, [12, 12, 12])
    """
    check_whole("people", people, low=1, high=1_000_000)
    check_whole("digits", digits, low=1, high=_MOST_DIGITS)
    drawn = coins(seed)
    following = 10 + np.array([drawn.choice(WORDS, 2, replace=False) for _ in range(WORDS)])
    spoken = np.empty((people, _LENGTH), dtype=np.int64)
    spoken[:, 0] = 10 + drawn.integers(0, WORDS, people)
    for place in range(1, _LENGTH):
        rarer = (drawn.random(people) < 0.2).astype(np.int64)
        spoken[:, place] = following[spoken[:, place - 1] - 10, rarer]
    secret = tuple(int(digit) for digit in drawn.integers(0, DIGITS, digits))
    begun = _LENGTH - len(PROMPT) - digits
    spoken[0, begun:] = [*PROMPT, *secret]
    return spoken.tolist(), secret


def _tokens(message: Any, *, cut: bool = True) -> tuple[int, ...]:
    """Return the tokens of a message, none where something else is among them: nobody's message is refused."""
    try:
        kept = tuple(message[:_LENGTH] if cut else message)
        usable = all(isinstance(one, int | np.integer) and 0 <= one < DIGITS + WORDS for one in kept)
    except Exception:  # what it says may show a token
        return ()
    return tuple(int(one) for one in kept) if usable else ()


def _starts(message: Sequence[int], order: int) -> range:
    """Return where the n-grams of a message begin."""
    return range(len(message) - order + 1)
