"""Chains of latent records, side by side: the three steps of one sweep."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.bayes.base import Values
from discreet.bayes.referee.record_model import RecordModel
from discreet.bayes.referee.sum_likelihood import SumLikelihood


class Chains:
    """The state of all chains: parameters, as many records as there may be people, and how many of them are there.

    Records beyond the number of people are spare: they follow the model, add nothing, and wait.
    """

    def __init__(
        self, model: RecordModel, totals: SumLikelihood, people: range, *, chains: int, generator: np.random.Generator
    ) -> None:
        self._model, self._totals, self._range, self._generator = model, totals, people, generator
        self.values: Values = model.draw_prior(chains, generator)
        self.people = generator.integers(people.start, people.stop, size=chains)
        self._records = model.draw_records(self.values, people.stop - 1, generator)
        self._added = totals.added(self._records)
        self.offered = self.accepted = 0

    @property
    def _present(self) -> NDArray[np.bool_]:
        """Which records are people: (chains, records)."""
        return np.asarray(np.arange(self._range.stop - 1) < self.people[:, np.newaxis])

    @property
    def sums(self) -> NDArray[Any]:
        """What the people add up to."""
        return np.asarray((self._added * self._present[..., np.newaxis]).sum(axis=1))

    @property
    def possible(self) -> bool:
        """Whether all chains are where noise could have made the release."""
        return bool(self._totals.possible(self.sums).all())

    def sweep(self) -> None:
        """Draw the parameters, offer every record another one, and draw the number of people."""
        self._draw_parameters()
        self._draw_records()
        if len(self._range) > 1:
            self._draw_people()

    def _draw_parameters(self) -> None:
        """Draw the parameters given the people; spare records have no say."""
        draw = self._model.draw_parameters
        if len(self._range) == 1:
            self.values = draw(self._records, self.values, self._generator)
            return
        parts = []
        for chain, people in enumerate(self.people):
            own = {name: value[chain : chain + 1] for name, value in self.values.items()}
            parts.append(draw(self._records[chain : chain + 1, :people], own, self._generator))
        self.values = {name: np.concatenate([part[name] for part in parts]) for name in self.values}

    def _draw_records(self) -> None:
        """Offer every record one drawn from the model: taken with the ratio of the two likelihoods of the release."""
        other = self._model.draw_records(self.values, self._range.stop - 1, self._generator)
        added, present = self._totals.added(other), self._present
        change = np.moveaxis((added - self._added) * present[..., np.newaxis], 1, 0)
        limits = -self._generator.standard_exponential(change.shape[:2])  # ln of uniform numbers
        sums, taken = self.sums, np.empty(change.shape[:2], dtype=bool)
        level = self._totals.log_likelihood(sums)
        lost = not np.isfinite(level).all()
        for place in range(len(change)):
            moved = sums + change[place]
            found = self._totals.log_likelihood(moved)
            take = found > level + limits[place]
            if lost:  # a chain that starts where the release is impossible takes every offer until it is possible
                take |= np.isneginf(level)
            sums, level = np.where(take[:, np.newaxis], moved, sums), np.where(take, found, level)
            taken[place] = take
        kept = taken.T | ~present
        self.offered += int(present.sum())
        self.accepted += int((kept & present).sum())
        self._records = np.where(_beside(kept, other), other, self._records)
        self._added = np.where(kept[..., np.newaxis], added, self._added)

    def _draw_people(self) -> None:
        """Draw the number of people given all records, spare ones too: the first of them are there."""
        chains, first = len(self.people), self._range.start
        running = np.cumsum(self._added, axis=1)
        running = np.concatenate([np.zeros_like(running[:, :1]), running], axis=1)[:, first:]
        level = self._totals.log_likelihood(running.reshape(-1, running.shape[2])).reshape(chains, -1)
        race = np.where(np.isneginf(level), -np.inf, level + self._generator.gumbel(size=level.shape))
        possible = ~np.isneginf(level).all(axis=1)
        self.people = np.where(possible, first + race.argmax(axis=1), self.people)


def _beside(mask: NDArray[np.bool_], records: NDArray[Any]) -> NDArray[np.bool_]:
    """Return a mask over chains and records in as many dimensions as the records have."""
    return mask.reshape(mask.shape + (1,) * (records.ndim - 2))
