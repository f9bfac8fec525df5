"""Inference reads what was released: no balance, no entry of a ledger and no row is touched."""

from __future__ import annotations

from dataclasses import dataclass

import pandas as pd
import pytest

import discreet as dp
from discreet.bayes.evidence import LatentCounts, latent_counts
from discreet.errors import QueryRefused
from discreet.query import Session


@dataclass(frozen=True)
class Read:
    """What a model was given, in the place of a posterior."""

    given: LatentCounts

    def require_convergence(self):
        return self


@dataclass(frozen=True)
class Reading(dp.bayes.Model):
    """A model that returns the cells that it was given."""

    def fit(self, measurements, *, generator, progress):  # noqa: ARG002  nothing is drawn
        return Read(latent_counts(measurements))

    def prior(self, plans, generator):
        raise NotImplementedError

    def integers(self, values, plans, generator):
        raise NotImplementedError


@pytest.mark.theorem("Posterior.privacy")
@pytest.mark.parametrize("budget", [dp.PureDP(9), dp.ZCDP(9), dp.GaussianDP(3)])
def test_a_posterior_leaves_every_balance_unchanged_and_asks_a_closed_session_nothing(budget):
    frame = pd.DataFrame({"g": ["a", "b"] * 40})
    asked = Session.from_frames(unit="row", budget=budget, columns={"g": {"values": ["a", "b"]}}, t=frame)
    answers = [
        asked.sql(sql, share=0.1)
        for sql in ("SELECT g, COUNT(*) AS n FROM t GROUP BY g", "SELECT COUNT(*) AS n FROM t")
    ]
    entries, balance = list(asked.ledger.entries()), asked.balance
    found = dp.bayes.posterior(answers, Reading())
    assert len(found.given.cells) == 3
    assert list(asked.ledger.entries()) == entries
    assert asked.balance == balance
    asked.close()
    with pytest.raises(QueryRefused):
        asked.sql("SELECT COUNT(*) FROM t", share=0.1)
    assert dp.bayes.posterior(answers, Reading()) == found
