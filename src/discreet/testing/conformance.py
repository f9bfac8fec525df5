"""The conformance kit: one list of checks that any mechanism must pass, ours and third parties'.

::

    import pytest
    from discreet.testing import Subject, conformance_checks

    subject = Subject(make=lambda: MyMechanism(...), inputs=[0, 7])


    @pytest.mark.parametrize("check", conformance_checks(), ids=str)
    def test_my_mechanism(check):
        check(subject)
"""

from __future__ import annotations

import copy
import os
import pickle
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import cycle, islice
from typing import Any

import numpy as np

from discreet.audit import Level, Outcome, audit, goodness_of_fit
from discreet.audit.goodness import independence
from discreet.errors import DiscreetError, NotCopyable
from discreet.laws.noise import IntegerNoise
from discreet.mechanisms import Mechanism
from discreet.statistics import Rows
from discreet.testing.hostile import HOSTILE_VALUES
from discreet.testing.spellings import SPELLINGS, spelled
from discreet.testing.work import calls_made

ALARM = 1e-9
_ROUNDING = 2.0**-40  # of the distance of a law from itself
_RUN, _REPEATS, _REFERENCE = 8, 8, (5, 10, 20, 65)
_EPSILONS = (0.0, 0.01, 0.1, 0.5, 1.0, 3.0)
_MOST_CALLS, _ALIKE, _ONCE = 200_000, 10, 5000


class ConformanceFailure(AssertionError):
    """A mechanism does not do what its guarantee needs; the message says which duty and how it failed."""


@dataclass(frozen=True)
class Subject:
    """A mechanism under test: how to make one, inputs of its domain, and how hard to look.

    `draws` releases are compared with the law; the wire audit looks at no more than `wire` of each input; `forks`
    children, 1 to 8, are compared with their parent, the more the smaller the stock of noise that is found to travel.
    """

    make: Callable[[], Mechanism]
    inputs: Sequence[Any]
    draws: int = 4000
    search: int = 1
    wire: int = 1000
    forks: int = 8
    hostile: Sequence[Any] = field(default=HOSTILE_VALUES)


@dataclass(frozen=True)
class Check:
    """One duty, callable on a subject."""

    name: str
    run: Callable[[Subject], None]

    def __call__(self, subject: Subject) -> None:
        """Raise `ConformanceFailure` if the subject fails."""
        self.run(subject)

    def __str__(self) -> str:
        return self.name


def conformance_checks() -> list[Check]:
    """Return all checks, in the order in which failures are easiest to understand."""
    return [
        Check("repr shows no private value", _repr_is_public),
        Check("hostile input gets one clear error", _hostile_input),
        Check("errors do not depend on the data", _errors_are_constant),
        Check("one person counts once, however the id is written", _one_person_counts_once),
        Check("the sampler has the stated law", _law_is_sampled),
        Check("releases are independent", _releases_are_independent),
        Check("the price covers the divergence", _price_covers),
        Check("the loss covers the divergence at every epsilon", _loss_covers),
        Check("the error quantile is exact", _error_quantile),
        Check("the wire format tells nothing", _wire_is_clean),
        Check("the work does not depend on the values", _work_is_even),
        Check("copies and pickles carry no noise", _copies_are_fresh),
        Check("a forked child repeats nothing", _forks_are_fresh),
        Check("threads never share a draw", _threads_are_apart),
    ]


def _demand(holds: bool, message: str) -> None:
    """Fail with a message unless something holds."""
    if not holds:
        raise ConformanceFailure(message)


def _marked(mechanism: Mechanism, subject: Subject) -> list[str]:
    """Return what mechanism and laws print about themselves."""
    return [repr(mechanism), str(mechanism), *(repr(mechanism.law(value)) for value in subject.inputs)]


def _repr_is_public(subject: Subject) -> None:
    """Two different inputs must print alike."""
    mechanism = subject.make()
    shown = {repr(mechanism.law(value)) for value in subject.inputs}
    _demand(len(shown) <= 1, "the law's repr differs between inputs: it shows something private")
    for text in _marked(mechanism, subject):
        _demand("0x" not in text, "a repr shows an address instead of the public parameters")
    after = set()
    for value in subject.inputs:
        used = subject.make()
        used.release(value)
        after.add((repr(used), str(used)))
    _demand(after == {(repr(mechanism), str(mechanism))}, "the repr changes with what was released")


def _hostile_input(subject: Subject) -> None:
    """Every hostile value is refused by an error of discreet's tree, or answered."""
    for value in subject.hostile:
        mechanism = subject.make()
        try:
            mechanism(value)
        except DiscreetError as error:
            chained = error.__cause__ is not None or error.__context__ is not None
            _demand(not chained, "an error is chained to another that may show the value")
            _demand(len(str(error)) > 20, "an error does not say what to change")
        except Exception as error:
            raise ConformanceFailure(
                f"a hostile input of type {type(value).__name__} raised {type(error).__name__}"
            ) from None


def _errors_are_constant(subject: Subject) -> None:
    """Two values refused for the same reason must be refused in the same words."""
    for first, second in ((float("nan"), float("inf")), ("12345", "abcde"), ([123.5], [321.25])):
        texts = []
        for value in (first, second):
            try:
                subject.make()(value)
                texts.append("answered")
            except DiscreetError as error:
                texts.append(f"{type(error).__name__}: {error}")
        _demand(texts[0] == texts[1], "the text of an error depends on the value")


def _one_person_counts_once(subject: Subject) -> None:
    """Ids that are equal numbers are one person whatever their types, or are refused; for inputs that name units."""
    for value in subject.inputs:
        mechanism = subject.make()
        if not isinstance(value, Rows) or not len(value.values):
            continue
        rows = len(SPELLINGS) * (getattr(mechanism, "rows", None) or getattr(mechanism, "groups", None) or 1)
        values = (list(value.values) * rows)[:rows]
        plain = _parts(mechanism.law(Rows(values, [1] * rows)))
        try:
            found = _parts(mechanism.law(Rows(values, spelled(rows))))
        except DiscreetError:
            continue
        same = all(one.pair(two).delta(0.0).lower <= _ROUNDING for one, two in zip(plain, found, strict=True))
        _demand(same, "one person counts several times where the id is written in several types")


def _parts(law: Any) -> list[Any]:
    """Return the laws of the coordinates of a release."""
    return list(getattr(law, "laws", None) or [law])


def _releases(subject: Subject, value: Any) -> tuple[list[Any], list[list[Any]]]:
    """Return the laws of the coordinates of a release, and many real releases coordinate by coordinate."""
    mechanism = subject.make()
    law = mechanism.law(value)
    outputs = [mechanism.outcome(value) for _ in range(subject.draws)]
    if getattr(law, "laws", None) is None:
        return [law], [outputs]
    parts = _parts(law)
    return parts, [[np.ravel(output)[place] for output in outputs] for place in range(len(parts))]


def _law_is_sampled(subject: Subject) -> None:
    """A G-test of real releases against the law, on every input; vectors coordinate by coordinate."""
    for value in subject.inputs:
        laws, columns = _releases(subject, value)
        rate = ALARM / (len(subject.inputs) * len(laws))
        for law, drawn in zip(laws, columns, strict=True):
            fit = goodness_of_fit(law, drawn)
            _demand(not fit.alarm(rate), f"releases do not follow the stated law (p = {fit.p_value:.2g})")


def _releases_are_independent(subject: Subject) -> None:
    """A G-test of consecutive releases, and of neighboring coordinates, against independent ones."""
    for value in subject.inputs:
        laws, columns = _releases(subject, value)
        pairs = [
            ((law, drawn[start::2]), (law, drawn[start + 1 :: 2]))
            for law, drawn in zip(laws, columns, strict=True)
            for start in (0, 1)
        ]
        pairs += [((laws[i], columns[i]), (laws[i + 1], columns[i + 1])) for i in range(len(laws) - 1)]
        rate = ALARM / (len(subject.inputs) * len(pairs))
        for (law, first), (other, second) in pairs:
            length = min(len(first), len(second))
            fit = independence((law, first[:length]), (other, second[:length]))
            _demand(not fit.alarm(rate), f"releases depend on each other (p = {fit.p_value:.2g})")


def _price_covers(subject: Subject) -> None:
    """The exact audit must keep the guarantee."""
    verdict = audit(subject.make(), search=subject.search)
    _demand(verdict.outcome is Outcome.KEPT, f"the guarantee does not hold:\n{verdict}")


def _loss_covers(subject: Subject) -> None:
    """The price's delta is at least the exact divergence, at several epsilons and both directions."""
    mechanism = subject.make()
    loss = mechanism.loss
    covered = {epsilon: loss.delta(epsilon).upper for epsilon in _EPSILONS}
    for first, second in list(mechanism.neighbors())[:8]:
        pair = mechanism.law(first).pair(mechanism.law(second))
        for direction in (pair, pair.reversed()):
            for epsilon, stated in covered.items():
                found = direction.delta(epsilon).lower
                _demand(stated >= found, f"at epsilon {epsilon} the price says delta {stated}, the law has {found}")


def _error_quantile(subject: Subject) -> None:
    """For additive noise the half-width covers, and the next smaller one does not."""
    mechanism = subject.make()
    noise, grid = getattr(mechanism, "noise", None), getattr(mechanism, "grid", 1)
    if not isinstance(noise, IntegerNoise) or not hasattr(mechanism, "steps"):
        return
    for confidence, count in ((0.5, 1), (0.95, 1), (0.95, 10), (0.999, 3)):
        width = int(np.ceil(float(mechanism.error(confidence=confidence, count=count) / grid) - 0.5))  # type: ignore[attr-defined]
        inside = 1.0 - 2.0 * float(noise.sf(width))
        _demand(inside**count >= confidence - 1e-12, "the stated error is too small for its confidence")
        if width > 0:
            smaller = 1.0 - 2.0 * float(noise.sf(width - 1))
            _demand(
                max(smaller, 0.0) ** count < confidence + 1e-12, "the stated error is larger than the exact quantile"
            )


def _wire_is_clean(subject: Subject) -> None:
    """The wire audit must find nothing."""
    mechanism = subject.make()
    verdict = audit(
        mechanism, level=Level.WIRE, neighbors=list(mechanism.neighbors())[:4], draws=min(subject.draws, subject.wire)
    )
    _demand(verdict.outcome is Outcome.KEPT, f"the form of the outputs gives something away:\n{verdict}")


def _work_is_even(subject: Subject) -> None:
    """Inputs of one size take about the same number of calls, summed over a few releases.

    Ten times as many, and some thousands for what is done once, are allowed: only work without a bound is meant.
    """
    sizes: dict[int, list[Any]] = {}
    for value in subject.inputs:
        sizes.setdefault(len(value) if hasattr(value, "__len__") else 1, []).append(value)
    for values in sizes.values():
        mechanism = subject.make()
        mechanism.outcome(values[0])  # tables that are made once are not counted
        made = [calls_made(partial(_several, mechanism, value), most=_MOST_CALLS) for value in values]
        _demand(max(made) <= _ALIKE * min(made) + _ONCE, "the work depends on the values, not on their number alone")


def _several(mechanism: Mechanism, value: Any) -> None:
    """Release a few times."""
    for _ in range(_RUN):
        mechanism.outcome(value)


def _sequence(mechanism: Mechanism, subject: Subject) -> list[Any]:
    """Return a short run of releases, within what a stock drawn ahead holds."""
    return [repr(mechanism.outcome(value)) for value in islice(cycle(subject.inputs), _RUN)]


def _used(subject: Subject) -> Mechanism:
    """Return a mechanism that has released something, so that there are buffers to leak."""
    mechanism = subject.make()
    mechanism.release(subject.inputs[0])
    return mechanism


def _demand_apart(runs: list[tuple[list[Any], list[Any]]], subject: Subject, message: str) -> None:
    """Fail if runs that should be independent agree place by place more often than independent ones do.

    The chance of agreement is estimated on consecutive releases of one mechanism, and bounded upward; the alarm is a
    binomial tail of one in a thousand million. Where outputs nearly always agree anyway nothing can be told, and
    nothing is said. The estimate ends early once the chance, bounded downward, already explains the agreement: the
    upper bound that is drawn on would explain it too.
    """
    from scipy.special import bdtrc, betaincinv

    equal, total = _agreements(runs)
    if equal == 0:
        return
    mechanism = subject.make()
    agreed = places = 0
    for more in _REFERENCE:
        found, looked = _agreements(
            [(_sequence(mechanism, subject), _sequence(mechanism, subject)) for _ in range(more)]
        )
        agreed, places = agreed + found, places + looked
        least = float(betaincinv(agreed, places - agreed + 1, ALARM)) if agreed else 0.0
        if float(bdtrc(equal - 1, total, least)) >= ALARM:
            return
    chance = 1.0 if agreed == places else float(betaincinv(agreed + 1, places - agreed, 1 - ALARM))
    _demand(float(bdtrc(equal - 1, total, min(chance, 1.0))) >= ALARM, message)


def _agreements(runs: list[tuple[list[Any], list[Any]]]) -> tuple[int, int]:
    """Count the places at which two runs agree, and all places."""
    pairs = [(a, b) for one, two in runs for a, b in zip(one, two, strict=True)]
    return sum(a == b for a, b in pairs), len(pairs)


def _through_pickle(mechanism: Mechanism) -> Mechanism:
    """Return what a pickle of the mechanism becomes."""
    restored: Mechanism = pickle.loads(pickle.dumps(mechanism))  # noqa: S301  our own bytes
    return restored


def _copies_are_fresh(subject: Subject) -> None:
    """A copy or a pickle either is refused or draws its own noise."""
    for duplicate in (copy.copy, copy.deepcopy, _through_pickle):
        runs = []
        for _ in range(_REPEATS):
            mechanism = _used(subject)
            try:
                other = duplicate(mechanism)
            except NotCopyable:
                break
            except (pickle.PicklingError, AttributeError, TypeError) as error:
                raise ConformanceFailure(
                    f"copying fails with {type(error).__name__} instead of working or refusing"
                ) from None
            runs.append((_sequence(other, subject), _sequence(mechanism, subject)))
        if runs:
            _demand_apart(runs, subject, "a copy repeats the original's noise")


def _forks_are_fresh(subject: Subject) -> None:
    """After a fork, parent and child must draw different noise; a child takes several mechanisms along.

    A stock of noise of the whole process is found by the first mechanism after a fork alone.
    """
    if not hasattr(os, "fork"):
        return
    runs: list[tuple[list[Any], list[Any]]] = []
    forks = min(max(subject.forks, 1), _REPEATS)  # no number of them leaves nothing to compare
    for _ in range(forks):
        mechanisms = [_used(subject) for _ in range(_REPEATS // forks)]
        theirs = _in_a_child(mechanisms, subject)
        _demand(len(theirs) == len(mechanisms), "the mechanism cannot be used in a forked child")
        runs += zip(theirs, [_sequence(mechanism, subject) for mechanism in mechanisms], strict=True)
    _demand_apart(runs, subject, "a forked child repeats its parent's noise")


def _in_a_child(mechanisms: list[Mechanism], subject: Subject) -> list[list[Any]]:
    """Return a run of releases of each mechanism made by a forked child, none if it failed."""
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            with os.fdopen(writer, "wb") as stream:  # a pipe may take less than all at once
                stream.write(pickle.dumps([_sequence(mechanism, subject) for mechanism in mechanisms]))
        finally:
            os._exit(0)
    os.close(writer)
    with os.fdopen(reader, "rb") as stream:
        sent = stream.read()
    os.waitpid(child, 0)
    runs: list[list[Any]] = pickle.loads(sent) if sent else []  # noqa: S301  our own bytes
    return runs


def _threads_are_apart(subject: Subject) -> None:
    """Threads sharing one mechanism do not see each other's noise, and none fails."""
    runs: list[tuple[list[Any], list[Any]]] = []
    for _ in range(_REPEATS):
        mechanism = _used(subject)
        seen: list[list[Any]] = []
        threads = [
            threading.Thread(target=lambda m=mechanism, s=seen: s.append(_sequence(m, subject))) for _ in range(2)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        _demand(len(seen) == len(threads), "a thread failed")
        runs.append((seen[0], seen[1]))
    _demand_apart(runs, subject, "two threads drew the same noise")
