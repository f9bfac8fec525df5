"""A release as text that a ledger keeps, so that the same request is answered again without being paid again."""

from __future__ import annotations

import json
from collections.abc import Mapping
from fractions import Fraction
from typing import Any

import numpy as np

from discreet.errors import DiscreetError, LedgerMismatch
from discreet.laws import DiscreteGaussian, DiscreteLaplace, RoundedGaussian
from discreet.ledger.contract import MOST_BYTES, UNREADABLE, TextForms, array_of, array_words
from discreet.ledger.contract import in_full as all_of
from discreet.synthesis.base import MeasuredHistogram, Synthesizer, SyntheticRelease
from discreet.synthesis.domain import Records, SyntheticTable
from discreet.synthesis.methods.dual_query import Round
from discreet.synthesis.workloads import Workload

_FORMAT = 2
_LAWS = {law.__name__: law for law in (DiscreteLaplace, DiscreteGaussian, RoundedGaussian)}
_FORMS = TextForms(
    other=str,
    round=(
        Round,
        lambda value: [value.number, array_words(value.queries), array_words(value.signs)],
        lambda content: Round(content[0], array_of(content[1]), array_of(content[2])),
    ),
)


def to_text(release: SyntheticRelease) -> str | None:
    """Return a release as JSON text, or None if that is longer than `MOST_BYTES`, with and without its histograms.

    Everything in a release is public, so nothing is held back. What is neither a number, a text, an array, a round of
    a transcript nor a collection of those is kept as the text it prints.
    """
    table = release.table
    fields = {
        "format": _FORMAT,
        "method": release.method,
        "workload": release.workload.digest,
        "codes": table.records.codes,
        "weights": table.weights,
        "answers": release.answers,
        "deviations": release.deviations,
        "plan": release.plan,
        "evidence": release.evidence,
    }
    measured = [[one.attributes, type(one.noise).__name__, one.noise.scale, one.values] for one in release.histograms]
    for kept in ({**fields, "histograms": measured} if measured else fields, fields):
        text = json.dumps(
            {name: _FORMS.plain(value) for name, value in kept.items()}, separators=(",", ":"), sort_keys=True
        )
        if len(text) <= MOST_BYTES:
            return text
    return None


def _histogram(parts: Any, sizes: tuple[int, ...]) -> MeasuredHistogram:
    """Return a noisy histogram from its parts, which are checked."""
    attributes, law, scale, values = parts
    shape = tuple(sizes[place] for place in attributes)
    if not isinstance(attributes, tuple) or not isinstance(scale, Fraction):
        raise TypeError("attributes are listed, and a scale is a fraction")
    if values.shape != shape or values.dtype != np.int64:
        raise ValueError("a histogram has an integer for every combination of values")
    return MeasuredHistogram(attributes, values, _LAWS[law](scale))


def from_text(text: str, made: Synthesizer) -> SyntheticRelease:
    """Return the release that was stored for a synthesizer; raise for any other text."""
    try:
        return _release({name: _FORMS.value(value) for name, value in json.loads(text).items()}, made)
    except (DiscreetError, *UNREADABLE):
        raise LedgerMismatch(
            "the ledger holds something else for this request than a release of these queries, perhaps by another "
            "version of discreet. Nothing was spent."
        ) from None


def _release(fields: Mapping[str, Any], made: Synthesizer) -> SyntheticRelease:
    """Put a release together from its fields, which are checked."""
    queries, deviations = (len(made.workload),), fields["deviations"]
    if (fields["format"], fields["workload"]) != (_FORMAT, made.workload.digest):
        raise ValueError("a release of other queries")
    if not isinstance(fields["method"], str) or not all(
        isinstance(fields[name], dict) for name in ("plan", "evidence")
    ):
        raise TypeError("a method is named, and its plan and evidence are by name")
    if fields["answers"].shape != queries or (deviations is not None and deviations.shape != queries):
        raise ValueError("one answer for each query")
    return SyntheticRelease(
        method=fields["method"],
        workload=made.workload,
        neighbors=made.allowance.neighbors,
        guarantee=made.guarantee,
        table=SyntheticTable(Records(made.workload.domain, fields["codes"]), fields["weights"]),
        answers=fields["answers"],
        plan=fields["plan"],
        evidence=fields["evidence"],
        deviations=deviations,
        histograms=tuple(_histogram(parts, made.workload.domain.sizes) for parts in fields.get("histograms", [])),
    )


def in_full(made: Any) -> Any:
    """Return a synthesizer, or a part of one, as all that it is made of, for its digest."""
    return all_of(made, digested=(Workload,))
