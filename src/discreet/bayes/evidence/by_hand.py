"""Counts that people released by hand, as measurements: the noisy integers, and the law that was added to them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from numbers import Integral
from typing import Any

from discreet.errors import InputError, ParameterError
from discreet.laws import OnGrid
from discreet.laws.noise import IntegerNoise
from discreet.mechanisms import Gaussian, Laplace, Mechanism, ThresholdedHistogram, TruncatedGeometric
from discreet.statistics.measurement import ROWS, Counts, Measurement, MeasurementPlan, Source, by_hand
from discreet.statistics.pricing import NoisyVector

_ADDING = Laplace | Gaussian | TruncatedGeometric | NoisyVector | ThresholdedHistogram  # others use noise to choose


def noisy_counts(
    counts: Mapping[Any, int] | int,
    *,
    noise: Mechanism | IntegerNoise,
    key: str | Sequence[str] = "group",
    table: str = "",
    where: str = "",
    release: str = "",
) -> Measurement:
    """Return noisy counts of people, each in one group, as a measurement.

    Args:
        counts: the noisy integer of every group, by its label, or by a tuple with a label for each key; one integer for
            a count without groups.
        noise: the mechanism that was called on the counts, or the law that was added to each, about 0. A
            `ThresholdedHistogram` says that the groups were named because of their counts.
        key: what the labels are values of; for tuples, a list of names.
        table: a name for the data: releases about one table are read together.
        where: which rows were counted, in words that are equal for the same rows; nothing for all.
        release: a name for this release, so that it counts once however often it is handed over.

    >>> from discreet import Laplace
    >>> survey = noisy_counts(
    ...     {"yes": 412, "no": 88},
    ...     noise=Laplace(epsilon=0.5, sensitivity=1),
    ...     key="answer",
    ... )
    >>> survey.plan.keys, survey.released, survey.plan.noise
    ((('yes',), ('no',)), ((412, 88),), DiscreteLaplace(scale=2, center=...))
    """
    for name, words in (("table", table), ("where", where), ("release", release)):
        if not isinstance(words, str):
            raise ParameterError(
                f'{name} must be a text; got {type(words).__name__}, write {name}="survey"', parameter=name
            )
    names, groups = _groups(counts, key)
    law, guarantee = _law(noise)
    most = noise.keys if isinstance(noise, ThresholdedHistogram) else 0  # groups of one person, if counts named them
    source = Source(lineage=table, rows=where, bounding="one row a person", keys=names, listed=not most)
    often = f"a person may count in up to {most} groups" if most > 1 else ""
    adds_up = Counts(ROWS, once=not often, why=often, selects=most > 0)
    plan = MeasurementPlan("counts", names, tuple(groups), adds_up, law, source)
    return plan.measured([list(groups.values())], by_hand(release), guarantee)


def _groups(counts: Any, key: str | Sequence[str]) -> tuple[tuple[str, ...], dict[tuple[Any, ...], int]]:
    """Return the names of the keys, and the counts by groups."""
    if not isinstance(counts, Mapping):
        return (), {(): _whole(counts)}
    names = (key,) if isinstance(key, str) else tuple(key) if isinstance(key, list | tuple) else ()
    if not names or not all(isinstance(one, str) and one for one in names) or len(dict.fromkeys(names)) < len(names):
        raise ParameterError(
            'key must name what the labels are values of, each once; got another, write key="region" or '
            'key=["region", "sex"]',
            parameter="key",
        )
    groups = {(label if isinstance(label, tuple) else (label,)): _whole(count) for label, count in counts.items()}
    if not groups or any(len(group) != len(names) for group in groups) or len(groups) < len(counts):
        raise ParameterError(
            "counts must have a label for each key; got none or another number of labels, write "
            '{("north", "f"): 41, ...} with key=["region", "sex"]',
            parameter="counts",
        )
    return names, groups


def _whole(count: Any) -> int:
    if isinstance(count, bool) or not isinstance(count, Integral):
        raise InputError(
            "counts must be the noisy whole numbers as they were released; got another kind of number, write integers "
            "and do not round or cut them"
        )
    return int(count)


def _law(noise: Any) -> tuple[IntegerNoise, Any]:
    """Return the law of the noise about 0, and the guarantee where a mechanism stated one."""
    law = noise.noise if isinstance(noise, _ADDING) else noise
    grid = getattr(noise, "grid", 1)
    if isinstance(noise, OnGrid) or grid != 1:
        raise ParameterError(
            "noise must be on whole numbers; got noise on a finer grid, write a whole sensitivity, such as "
            "Laplace(epsilon=0.5, sensitivity=1), for counts",
            parameter="noise",
        )
    if not isinstance(law, IntegerNoise):
        raise ParameterError(
            f"noise must be a mechanism that adds integer noise, or its law; got {type(noise).__name__}, write "
            "Laplace(epsilon=0.5, sensitivity=1) or DiscreteLaplace(2)",
            parameter="noise",
        )
    if law.center != 0:
        raise ParameterError(
            "noise must have its center at 0; got another center, write the law of the noise alone, noise.at(0)",
            parameter="noise",
        )
    return law, noise.guarantee if isinstance(noise, Mechanism) else None
