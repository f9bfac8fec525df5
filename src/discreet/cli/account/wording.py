"""The words of a price: tables and sentences for the terminal and the page, and plain values for machines."""

from __future__ import annotations

import math
import textwrap
from fractions import Fraction

from discreet.cli.account.facts import FALSE_ALARMS, CertifiedLoss
from discreet.cli.console import Chapter
from discreet.display import LastDigit, Table, format_number
from discreet.laws import Enclosure
from discreet.privacy import Relation, ReleaseRecord, Sampler
from discreet.privacy.guarantees import shown
from discreet.privacy.numbers import downward, number
from discreet.privacy.records import FORMAT, ReleaseKind, plainest

_DIGITS = 8
_NO_BOUND = "no bound"
_LARGEST_ODDS = 12.0
_MOST_LISTED = 12
_WIDEST_CELL = 62

NAMES = {
    ReleaseKind.GAUSSIAN: "Gaussian noise",
    ReleaseKind.LAPLACE: "Laplace noise",
    ReleaseKind.DISCRETE_GAUSSIAN: "integer Gaussian noise",
    ReleaseKind.DISCRETE_LAPLACE: "integer Laplace noise",
    ReleaseKind.RANDOMIZED_RESPONSE: "randomized response",
    ReleaseKind.BOUNDED_RANGE: "exponential mechanism",
    ReleaseKind.ABOVE_THRESHOLD: "AboveThreshold",
    ReleaseKind.TABLE: "a table of chances",
    ReleaseKind.PURE: "pure guarantee",
    ReleaseKind.APPROX: "approximate guarantee",
    ReleaseKind.ZCDP: "zCDP guarantee",
    ReleaseKind.RENYI: "Renyi guarantee",
    ReleaseKind.GAUSSIAN_DP: "Gaussian DP guarantee",
}


def bill(price: CertifiedLoss, *, unit_stated: bool, found: str = "") -> list[Chapter]:
    """Return the price as chapters: what is released (its noise given, or `found`), what it costs, what others say."""
    parts = [_releases(price, found=found), _answer(price, unit_stated=unit_stated)]
    return [*parts, _others(price)] if price.comparisons else parts


def _releases(price: CertifiedLoss, *, found: str) -> Chapter:
    """List the releases."""
    rows = [[NAMES[one.kind], _parameters(one), _rows_of(one), one.count] for one in price.records[:_MOST_LISTED]]
    left = len(price.records) - len(rows)
    after = (f"and {left:,} more records.",) if left else ()
    table = Table(["release", "parameters", "run on", "times"], rows)
    before = (
        (f"The least noise that is certified to meet the target: {found} (rounded to the safe side).",) if found else ()
    )
    return Chapter(f"What is released: {_count(price.loss.releases)}", before, table, after)


def _answer(price: CertifiedLoss, *, unit_stated: bool) -> Chapter:
    """Give the certified interval and everything it rests on."""
    asked, given = price.question.asked, price.question.given
    other = "delta" if asked == "epsilon" else "epsilon"
    relation = price.loss.relation
    rows = [
        [f"{asked}, certified", interval(price.answer)],
        *_directions(price),
        ["method", price.answer.method],
        ["neighbors", f"{relation.value}: {relation.sentence}"],
        ["unit of protection", price.records[0].unit if unit_stated else "not stated (say it with --unit)"],
        *(["assuming" if place == 0 else "", words] for place, words in enumerate(assumptions(price))),
    ]
    rows = [line for name, words in rows for line in _wrapped(name, words)]
    table = Table(["", f"at {other} = {shown(given)}"], rows)
    return Chapter(f"What it costs: {asked} = {_up(price.answer.upper)}", (), table, meaning(price))


def _wrapped(name: str, words: str) -> list[list[str]]:
    """Return a row, continued in further rows where it is long."""
    lines = textwrap.wrap(words, _WIDEST_CELL) or [""]
    return [[name if place == 0 else "", line] for place, line in enumerate(lines)]


def _directions(price: CertifiedLoss) -> list[list[str]]:
    """Show both directions, named for the relation."""
    if price.removed == price.added:
        return [["  in both directions", "the same"]]
    return [["  a person removed", interval(price.removed)], ["  a person added", interval(price.added)]]


def _others(price: CertifiedLoss) -> Chapter:
    """Compare with older theorems on the same releases at the same delta."""
    tight = price.epsilon
    rows: list[list[object]] = [["this accountant", _up(tight), "1"]]
    for one in price.comparisons:
        ratio = "" if one.epsilon is None or not 0 < tight < math.inf else f"{one.epsilon / tight:.3g}"
        rows.append([one.theorem, _NO_BOUND if one.epsilon is None else _up(one.epsilon), ratio])
    return Chapter(
        "The same releases by other theorems",
        (),
        Table(["theorem", f"epsilon at delta = {shown(price.delta)}", "times ours"], rows),
    )


def assumptions(price: CertifiedLoss) -> list[str]:
    """Say what the interval rests on."""
    said = []
    if price.loss.releases > 1:
        said.append("all parameters are fixed before the first answer (else use a filter)")
    if any(one is not Sampler.EVERYONE for one in price.loss.samplers):
        said.append("every sample is drawn afresh and kept secret")
    if not price.loss.attained:
        said.append("the worst release that keeps what is stated; the real one may cost less")
    if price.loss.relation is Relation.UNSTATED:
        said.append("the sensitivity was computed for the neighbors you have in mind")
    said.append("float functions are as accurate as the threat model says")
    return said


def meaning(price: CertifiedLoss) -> tuple[str, ...]:
    """Say the price as odds and as a test, for people."""
    return (odds(price), tested(price))


def odds(price: CertifiedLoss) -> str:
    """Say how far a belief of 50:50 can move; an (epsilon, delta) guarantee is an epsilon guarantee that may fail."""
    what = "which of two rows is yours" if price.loss.relation is Relation.CHANGE_ONE else "whether you are in the data"
    if not math.isfinite(price.epsilon):
        return f"In odds: nothing is guaranteed. Someone may end certain of {what}, however unsure they were."
    failing = f", or, with chance {shown(price.delta)}, gives you away altogether" if price.delta > 0 else ""
    return (
        f"In odds: someone who thought it 50:50 {what} learns no more than from a release that moves them to at most "
        f"{belief(price.epsilon)}{failing}."
    )


def belief(epsilon: float) -> str:
    """Write the odds that 50:50 becomes at most, the certain side rounded up.

    >>> belief(2.0), belief(0.1), belief(40.0)
    ('88.1:11.9', '52.5:47.5', 'near certainty (e^40 to 1)')
    """
    if epsilon > _LARGEST_ODDS:
        return f"near certainty (e^{_up(epsilon, digits=3)} to 1)"
    doubt = downward(lambda: 100 / (1 + number(Fraction(epsilon)).exp()))
    written = format_number(doubt, digits=3 if doubt >= 1 else 2, rounding=LastDigit.DOWN)
    rest = 100 - Fraction(written)
    return f"{format_number(rest, digits=12)}:{written}"


def tested(price: CertifiedLoss) -> str:
    """Say what the best test can do."""
    missed = format_number(100 * price.misses, digits=3, rounding=LastDigit.DOWN)
    alarms = format_number(100 * FALSE_ALARMS)
    return (
        f"As a test: whoever raises a false alarm in {alarms} % of all cases misses you in at least {missed} %; "
        f"without any answer it would be {format_number(100 - 100 * FALSE_ALARMS)} %."
    )


def interval(found: Enclosure) -> str:
    """Write both ends, rounded outward; one number where they agree in all digits shown."""
    if math.isinf(found.lower):
        return _NO_BOUND
    low = format_number(found.lower, digits=_DIGITS, rounding=LastDigit.DOWN)
    return f"{low} to {_up(found.upper)}"


def machine(price: CertifiedLoss) -> dict[str, object]:
    """Return the price as plain values for JSON; null stands for 'no bound'."""
    return {
        "question": {"asked": price.question.asked, "given": float(price.question.given)},
        price.question.asked: _ends(price.answer),
        "removed": _ends(price.removed),
        "added": _ends(price.added),
        "comparisons": {one.theorem: one.epsilon for one in price.comparisons},
        "test": {"false_alarms": FALSE_ALARMS, "misses_at_least": price.misses},
        "relation": price.loss.relation.value,
        "samplers": [one.value for one in price.loss.samplers],
        "releases": price.loss.releases,
        "assumptions": assumptions(price),
        "format": FORMAT,
        "records": [one.to_dict() for one in price.records],
    }


def _ends(found: Enclosure) -> dict[str, object]:
    ends = {"lower": found.lower, "estimate": found.estimate, "upper": found.upper}
    return {**{name: end if math.isfinite(end) else None for name, end in ends.items()}, "method": found.method}


def _parameters(one: ReleaseRecord) -> str:
    """Write the parameters as people would."""
    pairs = [
        (name, f"{len(value)} chances" if isinstance(value, tuple) else shown(plainest(value)))
        for name, value in one.parameters
    ]
    return ", ".join(f"{name} {value}" for name, value in sorted(pairs, key=lambda pair: pair[0] == "sensitivity"))


def _rows_of(one: ReleaseRecord) -> str:
    if one.rate is None:
        return one.sampler.value
    return f"{one.sampler.value} sample, rate {shown(plainest(one.rate))}"


def _count(releases: int) -> str:
    return "1 release" if releases == 1 else f"{releases:,} releases"


def _up(value: float, *, digits: int = _DIGITS) -> str:
    """Write a price, rounded up."""
    return _NO_BOUND if math.isinf(value) else format_number(value, digits=digits, rounding=LastDigit.UP)
