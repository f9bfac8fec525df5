"""Estimates are raw and unbiased; their intervals hold as often as they say, whatever the number of people."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from discreet.data.invention import coins
from discreet.errors import InputError, ParameterError
from discreet.local import DirectResponse, Frequencies, HashedGeometry, ProjectiveGeometry
from discreet.local.estimates.frequencies import onto_simplex
from discreet.local.estimates.support import Support
from discreet.privacy import Target
from tests.conftest import Rounds

ALARM = 1e-9
SPEC = DirectResponse(epsilon=Fraction(1), categories=("tea", "coffee", "water"))
FREQUENCIES = SPEC.estimate(np.array([5000, 3000, 2000]), 10_000)


Law = tuple[NDArray[np.int64], NDArray[np.float64]]


def binomial(draws: int, chance: float) -> Law:
    """Return the numbers of successes within 12 standard deviations and their chances; what is left is < 1e-30."""
    from scipy.stats import binom

    reach = 12 * (draws * chance * (1 - chance)) ** 0.5 + 60
    numbers = np.arange(max(0, int(draws * chance - reach)), min(draws, int(draws * chance + reach)) + 1)
    return numbers, np.asarray(binom.pmf(numbers, draws, chance))


@dataclass(frozen=True)
class Coin:
    """A report speaks for a value with these chances, if it is held and if not."""

    preference: Fraction
    shared: Fraction


@cache
def law_of_support(people: int, holders: int, spec: Any, target: Target) -> Law:
    """Return the exact law of the number of reports that speak for a value."""
    p, r = float(spec.preference), float(spec.shared)
    if target is Target.POPULATION:
        return binomial(people, r + holders / people * (p - r))
    (first, theirs), (second, others) = binomial(holders, p), binomial(people - holders, r)
    masses = np.convolve(theirs, others)
    return first[0] + second[0] + np.arange(masses.size), masses


def exact_coverage(people: int, holders: int, spec: Any, rest: float, target: Target) -> float:
    """Return the exact chance that an interval contains the frequency."""
    seen, masses = law_of_support(people, holders, spec, target)
    low, high = Support(seen, people, spec.preference, spec.shared).interval(rest, target)
    frequency = holders / people
    return float(masses[(low <= frequency + 1e-12) & (frequency - 1e-12 <= high)].sum())


@pytest.mark.theorem("Support.accuracy")
@pytest.mark.parametrize("target", Target)
@pytest.mark.parametrize("rest", [0.5, 0.05, 0.05 / 1024, 1e-7])
@pytest.mark.parametrize(
    ("epsilon", "values"),
    [
        (Fraction(1, 10), 4),
        (Fraction(1), 2),
        (Fraction(1), 300),
        (Fraction(4), 2),
        (Fraction(4), 100),
        (Fraction(8), 9),
    ],
)
def test_no_interval_misses_more_often_than_allowed_whatever_the_table(
    epsilon: Fraction, values: int, rest: float, target: Target
) -> None:
    spec = DirectResponse(epsilon=epsilon, categories=values)
    for people in (1, 30, 1000, 5000):
        for frequency in (0.0, 0.01, 0.3, 1.0):
            missed = 1 - exact_coverage(people, round(frequency * people), spec, rest, target)
            assert missed <= rest + 1e-12, (people, frequency)


@pytest.mark.theorem("Support.accuracy")
@pytest.mark.parametrize(
    ("p", "r", "frequency", "rest"),
    [
        (0.99, 0.01, 0.5, 1e-7),
        (0.98, 0.02, 0.6, 1e-7),
        (0.9, 0.1, 0.5, 1e-3),
        (0.99, 0.001, 0.1, 1e-3),
        (0.75, 0.25, 0.5, 0.5),
    ],
)
def test_no_side_misses_more_than_its_half_just_where_the_expansion_takes_over(
    p: float, r: float, frequency: float, rest: float
) -> None:
    from scipy.special import ndtri

    each = frequency * p * (1 - p) + (1 - frequency) * r * (1 - r)
    for more in (1.02, 1.3):
        people = int(max(100, 8 * ndtri(rest / 2) ** 4) * more / each) + 1
        for holders in range(round(frequency * people), round(frequency * people) + 8):
            spec = Coin(Fraction(p), Fraction(r))
            seen, masses = law_of_support(people, holders, spec, Target.TABLE)
            low, high = Support(seen, people, spec.preference, spec.shared).interval(rest, Target.TABLE)
            for missed in (low > holders / people, high < holders / people):
                assert masses[missed].sum() <= rest / 2


@pytest.mark.theorem("Support.accuracy")
@pytest.mark.parametrize("rest", [1e-9 / 65536, 1e-17, 1e-24])
def test_levels_far_below_the_rounding_of_one_are_inverted_exactly(rest: float) -> None:
    people, spec = 50_000, Coin(Fraction(1, 2), Fraction(1, 10_000))
    low, high = Support(np.array([60]), people, spec.preference, spec.shared).interval(rest, Target.TABLE)
    least, most = round(low[0] * people), round(high[0] * people)
    for holders, within in ((least - 1, False), (least, True), (most, True), (most + 1, False)):
        seen, masses = law_of_support(people, holders, spec, Target.TABLE)
        assert (min(masses[seen >= 60].sum(), masses[seen <= 60].sum()) > rest / 2) == within


@pytest.mark.parametrize("target", Target)
@pytest.mark.parametrize("people", [1, 7, 40, 900])
def test_every_interval_contains_its_raw_estimate_and_moves_up_with_the_count(people: int, target: Target) -> None:
    for epsilon, values in ((Fraction(1, 10), 2), (Fraction(2), 5), (Fraction(12), 3)):
        spec = DirectResponse(epsilon=epsilon, categories=values)
        support = Support(np.arange(people + 1), people, spec.preference, spec.shared)
        for chosen in (None, np.arange(0, people + 1, max(1, people // 20))):
            low, high = support.interval(0.05, target, chosen)
            frequencies = support.frequencies if chosen is None else support.frequencies[chosen]
            assert (low <= frequencies).all()
            assert (frequencies <= high).all()
            if chosen is not None:
                assert (np.diff(low) >= 0).all()
                assert (np.diff(high) >= 0).all()


@pytest.mark.theorem("Support.accuracy")
@pytest.mark.parametrize(("holders", "chance", "rest"), [(1, 0.27, 0.5), (1, 0.0251, 0.05), (2, 0.7, 0.9)])
def test_few_holders_among_many_counts_are_missed_no_more_than_the_heavier_law_allows(
    holders: int, chance: float, rest: float
) -> None:
    nobody, seen = Fraction(1, 10**12), np.arange(101)
    low, _ = Support(seen, 100, Fraction(chance), nobody).interval(rest, Target.TABLE)
    _, high = Support(seen, 100, 1 - nobody, Fraction(1 - chance)).interval(rest, Target.TABLE)
    assert chance**holders > rest / 2, "so many reports are seen more often than one side may miss"
    assert low[holders] <= holders / 100
    assert high[100 - holders] >= 1 - holders / 100


def test_many_values_of_few_different_counts_get_the_exact_inversion() -> None:
    spec = DirectResponse(epsilon=Fraction(20), categories=300)
    frequencies = spec.estimate(np.array([1] * 299 + [70_000]), 70_299)
    ends = frequencies.intervals(together=True)
    assert ends.high[299] - ends.low[299] < 1e-3, "the heavier binomial law would give twice this"
    assert ends.contain(np.array([1] * 299 + [70_000]) / 70_299).all()


@pytest.mark.theorem("Support.accuracy")
@pytest.mark.parametrize("target", Target)
def test_large_crowds_get_hardly_more_than_the_stated_coverage(target: Target) -> None:
    for epsilon, values in ((Fraction(1), 3), (Fraction(2), 12)):
        spec = DirectResponse(epsilon=epsilon, categories=values)
        for frequency in (0.0, 0.05, 0.5):
            assert exact_coverage(60_000, round(frequency * 60_000), spec, 0.05, target) < 0.9525


@pytest.mark.theorem("Support.accuracy")
@pytest.mark.parametrize("target", Target)
def test_a_few_values_among_few_people_get_the_exact_inversion(target: Target) -> None:
    spec = DirectResponse(epsilon=Fraction(3), categories=2)
    for people, holders in ((1, 1), (12, 3), (40, 40)):
        covered = 0.0
        for seen, mass in zip(*law_of_support(people, holders, spec, target), strict=True):
            low, high = Support(np.array([seen]), people, spec.preference, spec.shared).interval(0.05, target)
            covered += mass * bool(low[0] <= holders / people + 1e-12 and holders / people - 1e-12 <= high[0])
        assert covered >= 0.95


def test_the_table_of_heavy_holders_gets_narrower_intervals_than_the_population() -> None:
    spec = DirectResponse(epsilon=Fraction(4), categories=3)
    frequencies = spec.estimate(np.array([50_000, 30_000, 20_000]), 100_000)
    table, population = (frequencies.intervals(target=target) for target in Target)
    assert ((population.high - population.low) > 1.5 * (table.high - table.low)).all()


@pytest.mark.theorem("Support.accuracy")
def test_drawn_intervals_cover_as_often_as_the_exact_law_says(rounds: Rounds) -> None:
    from scipy.stats import binom

    draws, people, spec = rounds(sample=300, full=40_000), 6000, DirectResponse(epsilon=Fraction(1), categories=8)
    held = np.repeat(np.arange(8), [2100, 1500, 900, 600, 450, 300, 150, 0])
    frequencies = np.bincount(held, minlength=8) / people
    each = np.zeros(8, dtype=np.int64)
    together = 0
    for _ in range(draws):
        found = spec.aggregator().add(spec.client().report_many(held)).estimate()
        each += found.intervals().contain(frequencies)
        together += bool(found.intervals(together=True).contain(frequencies).all())
    for value in range(8):  # draws are independent, values within one are not
        chance = exact_coverage(people, int(np.sum(held == value)), spec, 0.05, Target.TABLE)
        assert chance >= 0.95 - 1e-6
        assert binom.cdf(each[value], draws, chance) > ALARM / 17
        assert binom.sf(each[value] - 1, draws, chance) > ALARM / 17
    assert binom.cdf(together, draws, 0.95) > ALARM / 17


def test_estimates_are_raw_and_may_be_negative() -> None:
    frequencies = SPEC.estimate(np.array([9000, 900, 100]), 10_000)
    assert frequencies.value.min() < 0
    assert frequencies.value.sum() == pytest.approx(1.0)


def test_values_do_not_change_after_they_were_made() -> None:
    with pytest.raises(ValueError, match="read-only"):
        FREQUENCIES.value[0] = 1.0
    column = np.array([0.5, 0.5])
    frequencies = Frequencies(SPEC, 10, column, np.array([0.1, 0.1]))
    column[0] = 9
    assert frequencies.value[0] == 0.5


def test_one_value_is_an_estimate_by_label_or_index() -> None:
    estimate = FREQUENCIES.of("tea", confidence=0.9)
    assert float(estimate) == FREQUENCIES.value[0] == float(FREQUENCIES.of(0))
    assert estimate.low < float(estimate) < estimate.high
    assert (estimate.confidence, estimate.target, estimate.guarantee) == (0.9, Target.TABLE, SPEC.guarantee)
    wider = FREQUENCIES.of("tea", confidence=0.9, target=Target.POPULATION)
    assert wider.low < estimate.low < estimate.high < wider.high
    assert wider.target is Target.POPULATION


@pytest.mark.parametrize("value", ["milk", 3, -1, True, 1.0, None, [0], "0"])
def test_what_was_not_estimated_is_refused(value: Any) -> None:
    with pytest.raises(ParameterError, match="one of those that were estimated"):
        FREQUENCIES.of(value)


def test_keys_that_are_numbers_are_never_taken_for_places() -> None:
    frequencies = Frequencies(SPEC, 10, np.array([0.25, 0.75]), np.array([0.1, 0.1]), labels=(7, 0))
    assert float(frequencies.of(0)) == 0.75
    with pytest.raises(ParameterError):
        frequencies.of(1)


def test_intervals_for_stated_candidates_pay_for_those_alone() -> None:
    everything = FREQUENCIES.intervals(together=True)
    stated = FREQUENCIES.intervals(together=True, among=["water", "tea"])
    alone = FREQUENCIES.intervals(among=["water"])
    assert len(everything) == 3
    assert everything.low[2] < stated.low[0] < alone.low[0]
    assert stated.low[1] > everything.low[0]
    assert repr(stated) == "Intervals(2 of 95 % together, Target.TABLE)"


@pytest.mark.parametrize("confidence", [0, 1, -0.5, 1.5, float("nan"), "0.95", None, True])
def test_a_confidence_lies_between_0_and_1(confidence: Any) -> None:
    with pytest.raises(ParameterError):
        FREQUENCIES.intervals(confidence=confidence)


def test_a_target_is_one_of_the_two() -> None:
    with pytest.raises(ParameterError, match="Target"):
        FREQUENCIES.intervals(target="table")


def test_own_standard_errors_make_normal_intervals() -> None:
    frequencies = Frequencies(SPEC, 100, np.array([0.5, -0.1]), np.array([0.1, 0.2]))
    assert frequencies.intervals().low.tolist() == pytest.approx([0.5 - 0.1959964, -0.1 - 0.3919928])
    population = frequencies.intervals(target=Target.POPULATION)
    assert population.high[0] == pytest.approx(0.5 + 1.959964 * (0.01 + 0.25 / 100) ** 0.5)
    assert population.high[1] == pytest.approx(frequencies.intervals().high[1])
    assert "normal" in frequencies.of(0).method


def test_the_projection_is_that_of_the_raw_values() -> None:
    assert FREQUENCIES.projected().tolist() == onto_simplex(FREQUENCIES.value).tolist()


def test_shares_of_some_keys_are_not_forced_to_sum_to_one() -> None:
    spec = HashedGeometry(epsilon=2, keys="integer:64", prime=7, dimension=4, rows=8, seed=1)
    reports = spec.client().report_many([5] * 300)
    some = spec.sketch(spec.aggregator().add(reports)).estimate([5, 6])
    with pytest.raises(InputError, match="needs all categories"):
        some.projected()
    with pytest.raises(InputError, match="needs all categories"):
        Frequencies(SPEC, 10, np.array([0.2, 0.3]), np.array([0.1, 0.1])).projected()
    assert "approximate" in some.of(5).method
    assert "inverted law" in FREQUENCIES.of("tea").method


def test_counts_are_shares_of_the_people() -> None:
    assert FREQUENCIES.counts.tolist() == [frequency * 10_000 for frequency in FREQUENCIES.value]
    assert FREQUENCIES.counts.sum() == pytest.approx(10_000)


def test_shares_are_looked_up_and_gone_through_by_label() -> None:
    assert float(FREQUENCIES["tea"]) == float(FREQUENCIES.of("tea")) == float(FREQUENCIES[0])
    assert list(FREQUENCIES) == ["tea", "coffee", "water"]
    assert "tea" in FREQUENCIES
    assert "milk" not in FREQUENCIES
    assert list(DirectResponse(epsilon=1, categories=2).estimate([3, 1], 4)) == [0, 1]
    with pytest.raises(ParameterError, match="one of those that were estimated"):
        FREQUENCIES["milk"]


def test_a_frame_has_all_values_with_intervals_that_hold_together() -> None:
    frame, ends = FREQUENCIES.to_pandas(), FREQUENCIES.intervals(together=True)
    assert list(frame.index) == ["tea", "coffee", "water"]
    assert list(frame.columns) == ["value", "standard_error", "low", "high"]
    assert frame.loc["tea"].tolist() == [
        FREQUENCIES.value[0],
        FREQUENCIES.standard_error[0],
        ends.low[0],
        ends.high[0],
    ]
    each = FREQUENCIES.to_pandas(together=False, confidence=0.9)
    assert each["low"].tolist() == FREQUENCIES.intervals(confidence=0.9).low.tolist()


@pytest.mark.parametrize("among", [3, "tea", b"tea", 0.5])
def test_what_is_no_list_of_values_is_refused(among: Any) -> None:
    with pytest.raises(ParameterError, match="among must be a list"):
        FREQUENCIES.intervals(among=among)


@pytest.mark.parametrize(
    "frequencies", [[1, 2], [], None, "x", [None, 0, 1], [[0.1, 0.2, 0.3]], [0.1, "x", 0.2], float("nan")]
)
def test_intervals_are_compared_with_one_share_or_one_each(frequencies: Any) -> None:
    with pytest.raises(InputError, match="a column of 3"):
        FREQUENCIES.intervals().contain(frequencies)


def test_one_share_is_compared_with_every_interval() -> None:
    assert FREQUENCIES.intervals().contain(FREQUENCIES.value[0]).tolist() == [True, False, False]
    assert FREQUENCIES.intervals().contain(list(FREQUENCIES.value)).all()


def test_one_value_and_one_person_are_singular() -> None:
    frequencies = Frequencies(SPEC, 1, np.array([0.5]), np.array([0.1]))
    assert repr(frequencies) == "Frequencies(1 category, 1 person, standard error 0.1)"
    assert "1 person, epsilon 1 each: 1 of 1 category," in str(frequencies)


def test_a_plot_has_at_most_a_hundred_lines() -> None:
    with pytest.raises(ParameterError, match="at most 100"):
        FREQUENCIES.plot(101)


def test_a_dollar_sign_in_a_label_is_drawn() -> None:
    spec = DirectResponse(epsilon=1, categories=(r"$\frac$", "$5 to $10"))
    assert spec.estimate([6, 4], 10).plot().svg().startswith("<?xml")


def test_a_top_list_names_only_what_stands_out() -> None:
    spec = DirectResponse(epsilon=Fraction(3), categories=20)
    counts = np.full(20, 690)
    counts[[3, 11]] += [9000, 4000]
    frequencies = spec.estimate(counts, int(counts.sum()))
    top = frequencies.top(10)
    assert list(top) == [3, 11]
    assert all(top[value].low > 0 for value in top)
    assert list(frequencies.top(1)) == [3]
    together = frequencies.intervals(together=True)
    assert top[11].low == together.low[11]


def test_a_top_list_may_be_empty() -> None:
    frequencies = SPEC.estimate(np.array([4, 3, 3]), 10)
    assert len(frequencies.top(5)) == 0
    for text in (str(frequencies.top(5)), repr(frequencies.top(5)), frequencies.top(5)._repr_html_()):
        assert "nothing stands out from chance" in text
    assert "tea" in str(FREQUENCIES.top(1))
    assert "nothing" not in repr(FREQUENCIES.top(1))


@pytest.mark.parametrize("k", [0, -1, 1.5, None, "3", True])
def test_a_length_is_a_whole_number(k: Any) -> None:
    with pytest.raises(ParameterError):
        FREQUENCIES.top(k)


@pytest.mark.parametrize(
    "columns",
    [
        {"value": np.array([0.5]), "standard_error": np.array([0.1, 0.1])},
        {"value": np.array([]), "standard_error": np.array([])},
        {"value": np.array([[0.5]]), "standard_error": np.array([[0.1]])},
        {"value": np.array([np.nan]), "standard_error": np.array([0.1])},
        {"value": np.array([0.5]), "standard_error": np.array([np.inf])},
        {"value": np.array([0.5]), "standard_error": np.array([0.1]), "labels": ("a", "b")},
        {"value": np.array([0.5]), "standard_error": np.array([0.1]), "people": -1},
        {"value": np.array([0.5]), "standard_error": np.array([0.1]), "people": 1.5},
    ],
)
def test_columns_that_do_not_fit_are_refused(columns: dict[str, Any]) -> None:
    with pytest.raises(ParameterError):
        Frequencies(**{"spec": SPEC, "people": 10, **columns})


def test_nobody_is_an_error_and_not_a_nan() -> None:
    with pytest.raises(InputError, match="no reports"):
        SPEC.estimate(np.zeros(3, dtype=np.int64), 0)
    with pytest.raises(InputError, match="no reports"):
        Frequencies(SPEC, 0, np.array([0.5]), np.array([0.1]))


def test_what_is_printed_names_people_price_errors_and_the_gain_of_a_poisoner() -> None:
    text = str(FREQUENCIES)
    for words in ("10,000 people", "epsilon 1", "95 %", "standard errors", "one hostile report moves a count by up to"):
        assert words in text
    assert "tea" in text
    assert "tea" in FREQUENCIES._repr_html_()
    assert repr(FREQUENCIES) == "Frequencies(3 categories, 10,000 people, standard errors 0.0112 to 0.0131)"


def test_labels_cannot_smuggle_markup_or_control_characters() -> None:
    spec = DirectResponse(epsilon=Fraction(1), categories=("<script>x</script>", "\x1b[31m"))
    frequencies = spec.estimate(np.array([60, 40]), 100)
    assert "<script>x" not in frequencies._repr_html_()
    assert "\x1b" not in str(frequencies)


def test_a_table_is_as_long_as_asked_and_starts_with_the_largest() -> None:
    spec = DirectResponse(epsilon=Fraction(5), categories=100)
    frequencies = spec.estimate(np.arange(100), 4950)
    assert len(frequencies.table()) == 10
    assert [row[0] for row in frequencies.table(3).rows] == ["99", "98", "97"]


def test_the_plot_shows_the_largest_shares() -> None:
    drawn = FREQUENCIES.plot(2)
    assert drawn.svg().startswith("<?xml")
    few = DirectResponse(epsilon=Fraction(1), categories=2).estimate(np.array([9, 0]), 9)
    assert few.plot().svg().startswith("<?xml"), "a raw value may lie outside an exact interval"


def test_scaling_up_what_was_cut_at_zero_ruins_the_head_and_we_do_not() -> None:
    spec = ProjectiveGeometry.best(epsilon=Fraction(1), categories=1024)
    weights = 1 / np.arange(1, 1025) ** 1.1
    held = np.sort(coins(3).choice(1024, size=20_000, p=weights / weights.sum()))
    truth = np.bincount(held, minlength=1024) / 20_000
    frequencies = spec.aggregator().add(spec.client().report_many(held)).estimate()
    cut = np.maximum(frequencies.value, 0.0)
    rescaled = cut / cut.sum()
    # the standard error of the head is below 0.016 (one in 1e9 draws is off by 6.2 of them); rescaling takes two thirds
    assert abs(frequencies.value[0] - truth[0]) < 0.1
    assert rescaled[0] < truth[0] - 0.08
