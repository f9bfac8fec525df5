"""What an audit refuses, what it says about code that does not run, and how a verdict is put in words."""

from __future__ import annotations

import math
import subprocess
import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import discreet as dp
from discreet.audit import Level, Outcome, Until, Verdict, Witness, _told, audit, one_run
from discreet.audit.request import Watched, is_same
from discreet.audit.statistical.scores import FinestBit
from discreet.errors import MissingParameter, ParameterError

CLAIM = dp.PureDP(1)
PAIR = [(0, 1)]
SAMPLED = [Level.WIRE, Level.STATISTICAL]


class OnlyLaw:
    """Something with a law, which cannot be run."""

    def law(self, value: int) -> Any:
        return dp.Laplace(scale=1, sensitivity=1).law(value)


class OnlyPair:
    """Something with pairs of laws, and no neighbors of its own."""

    def pair(self, first: int, second: int) -> Any:
        return OnlyLaw().law(first).pair(OnlyLaw().law(second))


def two_arguments(first: int, second: int) -> int:
    return first + second


@pytest.mark.parametrize("level", SAMPLED)
@pytest.mark.parametrize(
    ("mechanism", "remedy"),
    [
        (3.7, "cannot be called"),
        (None, "cannot be called"),
        (dp.Laplace, "instance"),
        (OnlyLaw(), r"Level\.EXACT"),
        ("SVT4", "MUSEUM"),
        (dp.laws.DiscreteLaplace(3), "one distribution"),
    ],
)
def test_what_cannot_be_run_is_refused(mechanism: Any, remedy: str, level: Level) -> None:
    with pytest.raises(ParameterError, match=remedy) as raised:
        audit(mechanism, CLAIM, level=level, neighbors=PAIR)
    assert raised.value.parameter == "mechanism"


@pytest.mark.parametrize(
    ("mechanism", "remedy"),
    [
        (abs, r"level=Level\.STATISTICAL.*level=Level\.WIRE"),
        (3.7, "neither"),
        (dp.Laplace, "instance"),
        ("SVT4", "MUSEUM"),
        (dp.laws.DiscreteLaplace(3), "one distribution"),
    ],
)
def test_what_has_no_law_is_sent_to_the_right_level(mechanism: Any, remedy: str) -> None:
    with pytest.raises(ParameterError, match=remedy):
        audit(mechanism, CLAIM, neighbors=PAIR)


@pytest.mark.parametrize("level", SAMPLED)
@pytest.mark.parametrize(
    ("broken", "kind"), [(lambda _: 1 / 0, "ZeroDivisionError"), (two_arguments, "TypeError"), (len, "TypeError")]
)
def test_code_that_never_runs_is_named(broken: Callable[..., Any], kind: str, level: Level) -> None:
    verdict = audit(broken, CLAIM, level=level, neighbors=PAIR, draws=400)
    assert not verdict.refuted
    assert verdict.outcome is not Outcome.KEPT
    assert len(verdict.findings) == 1
    assert f"all {verdict.samples:,} runs ended in an error of type {kind}" in verdict.findings[0]


@pytest.mark.parametrize("level", SAMPLED)
def test_code_that_hardly_ever_runs_is_named(level: Level) -> None:
    calls = iter(range(10**9))

    def nearly_never(_: int) -> int:
        if next(calls) % 20:
            raise (ValueError if next(calls) % 3 else KeyError)("x" * 1000)
        return 1

    verdict = audit(nearly_never, dp.PureDP(9), level=level, neighbors=PAIR, draws=400)
    finding = verdict.findings[-1]
    assert f" of {verdict.samples:,} runs ended in an error, most of type ValueError (xxx" in finding
    assert len(finding) < 160
    assert verdict.outcome is not Outcome.KEPT


@pytest.mark.parametrize("level", SAMPLED)
def test_batches_that_fail_are_named_too(level: Level) -> None:
    class Batches:
        def runs(self, _: int, __: int) -> Any:
            raise RuntimeError("not today")

    batches: Any = Batches()
    verdict = audit(batches, CLAIM, level=level, neighbors=PAIR, draws=400)
    assert f"all {verdict.samples} runs ended in an error of type RuntimeError (not today)" in verdict.findings


@pytest.mark.parametrize("level", SAMPLED)
def test_code_that_runs_has_no_such_finding(level: Level) -> None:
    assert audit(lambda _: 1, CLAIM, level=level, neighbors=PAIR, draws=400).findings == ()


def test_an_error_whose_text_cannot_be_had_is_told_by_its_type() -> None:
    class Unprintable(Exception):
        def __str__(self) -> str:
            raise ValueError

        __repr__ = __str__

    def broken(_: int) -> int:
        raise Unprintable

    verdict = audit(broken, CLAIM, level=Level.STATISTICAL, neighbors=PAIR, draws=400)
    assert verdict.findings == ("all 400 runs ended in an error of type Unprintable",)


@pytest.mark.parametrize(("name", "level"), [("wire", Level.WIRE), ("Statistical", Level.STATISTICAL)])
def test_a_level_has_a_name(name: str, level: Level) -> None:
    assert audit(lambda _: 1, CLAIM, level=name, neighbors=PAIR, draws=400).level is level
    assert audit(OnlyLaw(), CLAIM, level="EXACT", neighbors=PAIR).level is Level.EXACT


@pytest.mark.parametrize("level", ["sampled", "", 2, None, Until.SPENT])
def test_an_unknown_level_is_refused(level: Any) -> None:
    with pytest.raises(ParameterError, match=r"Level\.WIRE, Level\.EXACT, Level\.STATISTICAL"):
        audit(lambda _: 1, CLAIM, level=level, neighbors=PAIR)


def test_until_is_one_of_two() -> None:
    with pytest.raises(ParameterError, match=r"Until\.DECIDED"):
        audit(lambda _: 1, CLAIM, level="statistical", neighbors=PAIR, until="decided")  # type: ignore[arg-type]


@pytest.mark.parametrize("mechanism", [OnlyLaw(), OnlyPair()])
def test_a_law_and_neighbors_are_enough(mechanism: Any) -> None:
    assert audit(mechanism, CLAIM, neighbors=PAIR).outcome is Outcome.KEPT
    assert audit(mechanism, dp.PureDP(0.9), neighbors=PAIR).refuted
    with pytest.raises(MissingParameter, match="neighbors="):
        audit(mechanism, CLAIM)


def test_a_law_that_is_none_of_ours_is_refused() -> None:
    class Dictionary:
        def law(self, value: int) -> Any:
            return {value: 1.0}

    dictionary: Any = Dictionary()
    with pytest.raises(ParameterError, match="a law of discreet"):
        audit(dictionary, CLAIM, neighbors=PAIR)


@pytest.mark.parametrize("level", Level)
@pytest.mark.parametrize("neighbors", [(0, 1), [0, 1], [(0, 1, 2)], 7, "ab", {0: 1}, ([0, 1], [1, 0]), [(0, 1), 2]])
def test_what_are_no_pairs_is_refused(neighbors: Any, level: Level) -> None:
    with pytest.raises(ParameterError, match=r"neighbors=\[\(x, y\), \.\.\.\]") as raised:
        audit(dp.Laplace(scale=1, sensitivity=1), neighbors=neighbors, level=level)
    assert raised.value.parameter == "neighbors"


@pytest.mark.parametrize("level", SAMPLED)
@pytest.mark.parametrize("same", [(1, 1), ([0, 1], [0, 1]), (np.array([0.0, np.nan]), np.array([0.0, np.nan]))])
def test_an_input_is_not_its_own_neighbor(same: Any, level: Level) -> None:
    with pytest.raises(ParameterError, match="neighbors must differ"):
        audit(lambda _: 1, CLAIM, neighbors=[same, same], level=level)


def test_a_pair_that_comes_down_to_one_input_does_no_harm_beside_others() -> None:
    verdict = audit(OnlyLaw(), dp.PureDP(0.9), neighbors=[(3, 3), (0, 1)])
    assert verdict.refuted
    assert verdict.witness == Witness(0, 1, verdict.witness.event if verdict.witness else "")


def test_inputs_are_compared_by_type_and_content() -> None:
    objects = np.array([1, "a", [2]], dtype=object)
    assert is_same(objects, objects.copy())
    assert not is_same(objects, np.array([1, "a", [3]], dtype=object))
    assert not is_same(np.zeros(2), np.zeros((1, 2)))
    assert not is_same(np.zeros(2), np.zeros(2, dtype=int))
    assert not is_same(0.0, -0.0)
    assert not is_same(True, 1)
    assert not is_same({"a": 1, "b": 2}, {"b": 2, "a": 1})
    assert is_same({"a": [1]}, {"a": [1]})
    assert not is_same(object(), object())


@pytest.mark.parametrize("level", SAMPLED)
@pytest.mark.parametrize("draws", [1e4, "many", True, np.float64(400.0), 0, -5])
def test_a_number_of_runs_is_whole(draws: Any, level: Level) -> None:
    with pytest.raises(ParameterError, match="draws") as raised:
        audit(lambda _: 1, CLAIM, level=level, neighbors=PAIR, draws=draws)
    assert raised.value.parameter == "draws"
    assert audit(lambda _: 1, CLAIM, level=level, neighbors=PAIR, draws=np.int64(400)).samples >= 400  # type: ignore[arg-type]


def verdict_of(level: Level, outcome: Outcome, confidence: float | None, **others: Any) -> Verdict:
    """Return a verdict with what matters here."""
    parts: dict[str, Any] = {
        "guarantee": CLAIM,
        "low": 2.0,
        "findings": (),
        "witness": Witness(0, 1, "output 0"),
        **others,
    }
    return Verdict(
        level=level,
        outcome=outcome,
        high=None,
        confidence=confidence,
        pairs=2,
        samples=100,
        seconds=0.0,
        **parts,
    )


def test_only_an_exact_audit_is_certain() -> None:
    assert "verdict: refuted: the guarantee is certainly exceeded" in str(
        verdict_of(Level.EXACT, Outcome.REFUTED, None)
    )
    sampled = str(verdict_of(Level.STATISTICAL, Outcome.REFUTED, 0.95))
    assert "verdict: refuted: the guarantee is exceeded (at confidence 0.95)" in sampled
    assert "certainly" not in sampled


def test_a_confidence_close_to_one_does_not_read_as_one() -> None:
    text = str(verdict_of(Level.WIRE, Outcome.REFUTED, 1 - 1e-9))
    assert "(at confidence 1 - 1e-9)" in text
    assert "confidence: 1 - 1e-9" in text
    assert "confidence: 0.999" in str(verdict_of(Level.STATISTICAL, Outcome.NOT_REFUTED, 0.999))


def test_a_wire_audit_says_what_it_did_not_look_at() -> None:
    text = str(verdict_of(Level.WIRE, Outcome.KEPT, 1 - 1e-9))
    assert "verdict: nothing in the form of outputs tells; values were not examined" in text


def test_a_refutation_by_form_alone_says_so() -> None:
    found = audit(lambda _: math.nan, CLAIM, level=Level.WIRE, neighbors=PAIR, draws=20)
    assert "verdict: refuted: outputs have a form that none may have" in str(found)


def test_the_claim_is_printed_without_a_relation_that_nobody_stated() -> None:
    assert "not stated here" not in str(verdict_of(Level.EXACT, Outcome.KEPT, None))
    stated = dp.PureDP(1, relation=dp.Relation.ADD_REMOVE)
    assert "added or removed" in str(verdict_of(Level.EXACT, Outcome.KEPT, None, guarantee=stated))


@pytest.mark.parametrize("level", Level)
def test_pairs_are_counted_alike_at_every_level(level: Level) -> None:
    laplace = dp.Laplace(scale=1, sensitivity=1)
    one = audit(laplace, neighbors=PAIR, level=level, draws=400)
    assert "; 1 pair of neighbors in both directions," in str(one)
    two = audit(laplace, neighbors=[(0, 1), (5, 6)], level=level, draws=400)
    assert (one.pairs, two.pairs) == (2, 4)
    assert "; 2 pairs of neighbors in both directions," in str(two)


@pytest.mark.parametrize("outcome", [Outcome.REFUTED, Outcome.NOT_REFUTED])
def test_a_fault_of_floating_point_is_called_one(outcome: Outcome) -> None:
    witness = Witness(0.0, 1.0, f"{FinestBit(0)} is at most -54")
    found = _told(verdict_of(Level.STATISTICAL, outcome, 0.95, witness=witness), Watched(abs))
    assert any("round the output to look past it" in finding for finding in found.findings) is found.refuted
    plain = _told(verdict_of(Level.STATISTICAL, outcome, 0.95), Watched(abs))
    assert plain.findings == ()


def test_a_picture_has_no_entry_for_what_is_not_drawn() -> None:
    exact = audit(dp.Laplace(epsilon=1, sensitivity=1)).plot()
    labels = [text.get_text() for legend in exact.figure.legends for text in legend.get_texts()]
    assert sorted(labels) == ["at least 1", "guarantee"]


def test_a_loss_is_not_drawn_beside_a_claim_about_a_curve() -> None:
    wire = verdict_of(Level.WIRE, Outcome.KEPT, 1 - 1e-9, guarantee=dp.ZCDP(0.5), low=0.1).plot()
    assert [text.get_text() for legend in wire.figure.legends for text in legend.get_texts()] == ["at least 0.1"]
    assert wire.figure.axes[0].get_xlabel() == "privacy loss"


def test_one_run_is_not_certain_and_its_chances_end_at_one() -> None:
    found = one_run(canaries=100, guesses=100, right=95, guarantee=CLAIM)
    assert "verdict: refuted: the guarantee is exceeded (at confidence 0.95)" in str(found)
    assert found.plot().figure.axes[0].get_ylim()[1] == 1.0


def test_importing_discreet_does_not_load_the_statistical_audit() -> None:
    script = (
        "import sys, discreet; print([name for name in ('statistical', 'learning', 'canaries', 'attainable', 'wire') "
        "if f'discreet.audit.{name}' in sys.modules]); from discreet.audit import *; print(Canaries, cap, one_run)"
    )
    command = [sys.executable, "-W", "error", "-c", script]
    done = subprocess.run(command, capture_output=True, text=True, check=True)  # noqa: S603  our own script
    first, second = done.stdout.splitlines()
    assert first == "[]"
    assert "class" in second
    assert second.count("function") == 2
    with pytest.raises(AttributeError, match="no attribute"):
        dp.audit.nothing  # noqa: B018
