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
from typing import Any

import numpy as np

from discreet.audit import Level, Outcome, audit, goodness_of_fit
from discreet.errors import DiscreetError, NotCopyable
from discreet.laws.noise import IntegerNoise
from discreet.mechanisms.mechanism import Mechanism
from discreet.testing.hostile import HOSTILE_VALUES

ALARM = 1e-6


class ConformanceFailure(AssertionError):
    """A mechanism does not do what its claim needs; the message says which duty and how it failed."""


@dataclass(frozen=True)
class Subject:
    """A mechanism under test: how to make one, inputs of its domain, and how hard to look."""

    make: Callable[[], Mechanism]
    inputs: Sequence[Any]
    draws: int = 4000
    search: int = 1
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
        """Name the duty."""
        return self.name


def conformance_checks() -> list[Check]:
    """Return all checks, in the order in which failures are easiest to understand."""
    return [
        Check("repr shows no private value", _repr_is_public),
        Check("hostile input gets one clear error", _hostile_input),
        Check("errors do not depend on the data", _errors_are_constant),
        Check("the sampler has the stated law", _law_is_sampled),
        Check("the price covers the divergence", _price_covers),
        Check("the loss covers the divergence at every epsilon", _loss_covers),
        Check("the error quantile is exact", _error_quantile),
        Check("the wire format tells nothing", _wire_is_clean),
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


def _law_is_sampled(subject: Subject) -> None:
    """A G-test of real releases against the law, on every input; vectors coordinate by coordinate."""
    rate = ALARM / len(subject.inputs)
    for value in subject.inputs:
        mechanism = subject.make()
        law = mechanism.law(value)
        outputs = [mechanism.release(value) for _ in range(subject.draws)]
        parts = getattr(law, "laws", None)
        laws = [law] if parts is None else list(parts)
        for place, part in enumerate(laws):
            drawn = np.empty(len(outputs), dtype=object)
            drawn[:] = outputs if parts is None else [np.ravel(output)[place] for output in outputs]
            usable = drawn if isinstance(outputs[0], tuple) else np.array(drawn.tolist())
            fit = goodness_of_fit(part, usable)
            _demand(not fit.alarm(rate / len(laws)), f"releases do not follow the stated law (p = {fit.p_value:.2g})")


def _price_covers(subject: Subject) -> None:
    """The exact audit must keep the claim."""
    verdict = audit(subject.make(), search=subject.search)
    _demand(verdict.outcome is Outcome.KEPT, f"the guarantee does not hold:\n{verdict}")


def _loss_covers(subject: Subject) -> None:
    """The price's delta is at least the exact divergence, at several epsilons and both directions."""
    mechanism = subject.make()
    loss = mechanism.loss
    for first, second in list(mechanism.neighbours())[:8]:
        pair = mechanism.law(first).pair(mechanism.law(second))
        for direction in (pair, pair.reversed()):
            for epsilon in (0.0, 0.01, 0.1, 0.5, 1.0, 3.0):
                stated, found = loss.delta(epsilon).upper, direction.delta(epsilon).lower
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
        mechanism, level=Level.WIRE, neighbours=list(mechanism.neighbours())[:4], draws=min(subject.draws, 1000)
    )
    _demand(verdict.outcome is Outcome.KEPT, f"the form of the outputs gives something away:\n{verdict}")


def _sequence(mechanism: Mechanism, subject: Subject, length: int = 64) -> list[Any]:
    """Return a run of releases long enough that two independent ones never coincide."""
    return [np.asarray(mechanism.release(value)).tolist() for _ in range(length) for value in subject.inputs]


def _through_pickle(mechanism: Mechanism) -> Mechanism:
    """Return what a pickle of the mechanism becomes."""
    restored: Mechanism = pickle.loads(pickle.dumps(mechanism))  # noqa: S301  our own bytes
    return restored


def _copies_are_fresh(subject: Subject) -> None:
    """A copy or a pickle either is refused or draws its own noise."""
    mechanism = subject.make()
    _sequence(mechanism, subject, 1)  # so that there are buffers to leak
    for duplicate in (copy.copy, copy.deepcopy, _through_pickle):
        try:
            other = duplicate(mechanism)
        except NotCopyable:
            continue
        except (pickle.PicklingError, AttributeError, TypeError) as error:
            raise ConformanceFailure(
                f"copying fails with {type(error).__name__} instead of working or refusing"
            ) from None
        _demand(_sequence(other, subject) != _sequence(mechanism, subject), "a copy repeats the original's noise")


def _forks_are_fresh(subject: Subject) -> None:
    """After a fork, parent and child must draw different noise."""
    if not hasattr(os, "fork"):
        return
    mechanism = subject.make()
    _sequence(mechanism, subject, 1)
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        code = 1
        try:
            os.write(writer, pickle.dumps(_sequence(mechanism, subject))[:60000])
            code = 0
        finally:
            os._exit(code)
    os.close(writer)
    with os.fdopen(reader, "rb") as stream:
        theirs = stream.read()
    status = os.waitpid(child, 0)[1]
    _demand(status == 0, "the mechanism cannot be used in a forked child")
    _demand(theirs != pickle.dumps(_sequence(mechanism, subject))[:60000], "a forked child repeats its parent's noise")


def _threads_are_apart(subject: Subject) -> None:
    """Threads sharing one mechanism never see the same run of noise, and none fails."""
    mechanism = subject.make()
    runs: list[list[Any]] = []
    failures: list[str] = []

    def work() -> None:
        try:
            runs.append(_sequence(mechanism, subject))
        except Exception as error:
            failures.append(type(error).__name__)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    _demand(not failures, f"a thread failed with {failures}")
    _demand(all(a != b for i, a in enumerate(runs) for b in runs[:i]), "two threads drew the same noise")
