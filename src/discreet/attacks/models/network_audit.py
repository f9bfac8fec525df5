"""An audit of a network's private training from one run: canaries with an input each to themselves, put in by coins."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from discreet._optional import optional
from discreet.attacks.models.invented_rows import invented_labels
from discreet.audit import Canaries, OneRun
from discreet.data.table import check_whole
from discreet.errors import ParameterError
from discreet.laws.number import Number
from discreet.privacy import Guarantee, PrivacyLoss, Relation

if TYPE_CHECKING:
    from discreet.learning.deep.plan import Plan

Floats = NDArray[np.float64]
_COLUMNS, _HIDDEN = 10, 16
_SIZE = 10.0  # a canary's one number: so large that almost all of its gradient lies at its own input
_INVENTED = 7  # the seed of invented people and of the first weights; noise has none


@dataclass(frozen=True, slots=True)
class SeenStep:
    """What everybody may see of a step: the weights before it, and the noisy sum of gradients that moved them."""

    weights: tuple[Any, ...]
    noisy: tuple[Any, ...]


class NetworkTraining:
    """A network with one hidden layer, trained by `learning.deep.train` as it is, on invented people and canaries.

    Each canary has an input to itself, 10 in its own row and 0 in all others: nobody else moves the weights of that
    input, and the gradient of the canary is longer than the clip norm and lies there almost entirely.

    Privacy. What `plan` guarantees: the training is that of `train`.
        Proof: the model and the optimizer are given to `train` from outside; the optimizer notes what it is told, all
        of which is released.
    Cost. About a second for 1,000 canaries and ten steps; needs the extra `deep`.
    """

    def __init__(self, plan: Plan, *, people: int = 100, learning_rate: Number = 0.5, physical: int = 256) -> None:
        self._torch: Any = optional("torch", extra="deep", purpose="an audit of a network")
        from discreet.learning.deep.plan import Plan

        if not isinstance(plan, Plan) or plan.relation is not Relation.ADD_REMOVE or plan.noise.coefficients(1) != (1,):
            raise ParameterError(
                "plan must be a Plan under add/remove with independent noise; got another, write "
                "Plan.for_target(..., relation=Relation.ADD_REMOVE, noise=IndependentNoise)",
                parameter="plan",
            )
        check_whole("people", people, low=1, high=100_000)
        check_whole("physical", physical, low=1, high=4096)
        self.plan, self.physical = plan, physical
        self._rows, self._labels = invented_labels(people=people, columns=_COLUMNS, seed=_INVENTED)
        self._rate = float(learning_rate)

    def run(self, included: NDArray[np.bool_]) -> list[SeenStep]:
        """Train with the canaries whose coins say so, and return what everybody may see."""
        import torch

        from discreet.learning.deep.training import train

        seen: list[SeenStep] = []

        class NotedDescent(torch.optim.SGD):  # type: ignore[misc]
            """Gradient descent that notes what it is told."""

            def step(self, closure: Any = None) -> Any:
                held = self.param_groups[0]["params"]
                noted = ([one.detach().clone() for one in held], [one.grad.detach().clone() for one in held])
                seen.append(SeenStep(*map(tuple, noted)))
                return super().step(closure)

        train(
            self._network(len(included)),
            self._data(included),
            replace(self.plan),  # all rows are made up, so that it may be used again
            self._loss(),
            optimizer=lambda parameters: NotedDescent(parameters, lr=self._rate),
            physical=self.physical,
        )
        return seen[-self.plan.steps :]  # before them the trainer tried the optimizer on made-up gradients

    def scores(self, canaries: int, seen: list[SeenStep]) -> Floats:
        """Return how much more likely what was seen is with each canary than without, in logarithms."""
        network = self._network(canaries)
        plan, added = self.plan, self._added(network, canaries)
        variance = (float(plan.noise.scale) * float(plan.clip.norm)) ** 2
        rate, total = float(plan.sampler.share), np.zeros(canaries)
        for step in seen:
            self._put(network, step.weights)
            noisy = _own(step.noisy[0]) * float(plan.divisor)
            own = np.concatenate([_own(sums[0], at) for at, sums in added()], axis=1)
            ratio = (own * (noisy - own / 2)).sum(axis=0) / variance
            total += ratio if rate == 1 else np.logaddexp(math.log1p(-rate), math.log(rate) + ratio)
        return total

    def _network(self, canaries: int) -> Any:
        """Return the network at the beginning, the same at every call; the weights of canaries are 0."""
        nn = self._torch.nn
        with self._torch.random.fork_rng(devices=[]), self._torch.no_grad():
            self._torch.manual_seed(_INVENTED)
            first = nn.Linear(canaries + _COLUMNS, _HIDDEN)
            first.weight[:, :canaries] = 0.0
            return nn.Sequential(first, nn.Tanh(), nn.Linear(_HIDDEN, 2))

    def _loss(self) -> Any:
        from discreet.learning.deep.clip import CrossEntropy

        return CrossEntropy(2)

    def _data(self, included: NDArray[np.bool_]) -> tuple[Any, Any]:
        """Return the rows of people and of the canaries that are in."""
        torch, count, inside = self._torch, len(included), np.flatnonzero(included)
        canaries = np.zeros((len(inside), count + _COLUMNS), dtype=np.float32)
        canaries[np.arange(len(inside)), inside] = _SIZE
        people = np.zeros((len(self._rows), count + _COLUMNS), dtype=np.float32)
        people[:, count:] = self._rows
        labels = np.concatenate([np.ones(len(inside), dtype=np.int64), self._labels])
        return torch.from_numpy(np.concatenate([canaries, people])), torch.from_numpy(labels)

    def _added(self, network: Any, canaries: int) -> Any:
        """Return a function of nothing that sums the clipped gradients of all canaries, some inputs at a time."""
        from discreet.learning.deep.clip import ClippedSum

        torch = self._torch
        rows, labels = (one[:canaries] for one in self._data(np.ones(canaries, dtype=bool)))
        clipped = ClippedSum(
            network, self._loss(), self.plan.clip, physical=self.physical, exact=self.plan.exact,
            example=(rows[:1] * 0, labels[:1]),
        )  # fmt: skip

        def sums() -> Iterator[tuple[slice, list[Any]]]:
            for start in range(0, canaries, self.physical):
                at = slice(start, min(start + self.physical, canaries))
                size = at.stop - at.start
                inputs = torch.zeros((self.physical, rows.shape[1]))
                targets = torch.zeros(self.physical, dtype=labels.dtype)
                inputs[:size], targets[:size] = rows[at], labels[at]
                yield at, clipped(inputs, targets, torch.arange(self.physical) < size)

        return sums

    def _put(self, network: Any, weights: tuple[Any, ...]) -> None:
        with self._torch.no_grad():
            for parameter, value in zip(network.parameters(), weights, strict=True):
                parameter.copy_(value)


def _own(weights: Any, at: slice = slice(None, -_COLUMNS)) -> Floats:
    """Return the part of the first layer that belongs to canaries, a column each."""
    return np.asarray(weights[:, at].numpy(), dtype=np.float64)


def audit_network(
    training: NetworkTraining,
    *,
    canaries: int,
    guesses: int,
    delta: Number,
    confidence: Number,
    guarantee: Guarantee | PrivacyLoss | None = None,
) -> OneRun:
    """Audit the training of a network from one run: put canaries in by fair coins, see every noisy sum, and guess.

    Whoever guesses sees the weights before every step and the noisy sum that moved them. At these weights they compute
    what each canary would have added; where canaries are sampled, the likelihood averages over whether they were. The
    claim is `guarantee`, or the whole curve of the training's plan if it is left out.

    Accuracy. As for `one_run`: the true epsilon at `delta` is at least `low`, but for a chance of 1 - `confidence`.
        Proof: the coins are fair and apart from all else, and the scores are made of what the training released.
    Cost. A training, and a pass over all canaries for every step.
    Reference. Steinke, Nasr, Jagielski 2023; Nasr et al. 2023 (canaries in gradients).

    >>> from discreet.learning.deep.plan import Clip, FullBatch, Independent, Plan
    >>> plan = Plan(
    ...     sampler=FullBatch(most_people=4096),
    ...     clip=Clip(1.0),
    ...     noise=Independent(0.5),
    ...     steps=2,
    ...     unit="row",
    ...     relation=Relation.ADD_REMOVE,
    ...     divisor=100,
    ... )
    >>> game = {"canaries": 200, "guesses": 100, "delta": 1e-5}
    >>> found = audit_network(NetworkTraining(plan), confidence=1 - 1e-9, **game)
    >>> found.right > 80, found.refuted
    (True, False)
    """
    if not isinstance(training, NetworkTraining):
        raise ParameterError(
            "training must be a NetworkTraining; got another, write NetworkTraining(plan)", parameter="training"
        )
    check_whole("canaries", canaries, low=2, high=4096)
    drawn = Canaries.drawn(canaries)
    scores = training.scores(canaries, training.run(drawn.included))
    claim = training.plan.loss if guarantee is None else guarantee
    return drawn.audit(
        scores, guesses=guesses, guarantee=claim, delta=delta, confidence=confidence, relation=Relation.ADD_REMOVE
    )
