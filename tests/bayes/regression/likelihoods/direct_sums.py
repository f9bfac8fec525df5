"""Likelihoods by sums over all counts, with nothing tabulated: what the tables are held against."""

from __future__ import annotations

import numpy as np
from scipy.special import gammaln, logsumexp


def rate_directly(released, noise, means, weight=1):
    """Return ln of the likelihood of Poisson means by the sum over the count."""
    top = max(released / weight, 0) + 90 * float(noise.scale) / weight + 40 * np.sqrt(max(means.max(), 1)) + means.max()
    counts = np.arange(int(top) + 100)
    weights = noise.log_pmf(released - weight * counts) - gammaln(counts + 1)
    return np.array([logsumexp(counts * np.log(mean) - mean + weights) for mean in means])


def share_directly(successes, failures, noise, logits, *, people=None, together=None):
    """Return ln of the likelihood of log odds by the sum over both counts; None is a side that was not released."""
    reach = int(72 * float(noise.scale)) + 20
    wide = [people if one is None and people is not None else max(one or 0, 0) + reach for one in (successes, failures)]
    yes, no = np.arange(wide[0] + 1)[:, np.newaxis], np.arange(wide[1] + 1)[np.newaxis]
    terms = gammaln(yes + no + 1) - gammaln(yes + 1) - gammaln(no + 1)
    for released, count in ((successes, yes), (failures, no), (together, yes + no)):
        if released is not None:
            terms = terms + noise.log_pmf(released - count)
    if people is not None:
        terms = np.where(yes + no == people, terms, -np.inf)
    found = [logsumexp(terms - yes * np.logaddexp(0, -one) - no * np.logaddexp(0, one)) for one in logits]
    return np.array(found)
