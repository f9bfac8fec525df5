"""What a posterior says is what its law says: intervals, probabilities, draws, facts; none of it costs anything."""

from __future__ import annotations

import math

import numpy as np
import pandas
import pytest

import discreet as dp
from discreet.bayes import BetaBinomial, LogisticCells, posterior
from discreet.bayes.base import DrawnMarginal, Parameter, Posterior
from discreet.bayes.base.marginal import joint_rest
from discreet.bayes.evidence import noisy_counts
from discreet.errors import InputError, NotConverged, ParameterError
from discreet.laws import DiscreteLaplace
from discreet.privacy import ZCDP, PureDP, Target
from tests.bayes.small_models import Coins, coins, enumerated, released

TWO = {"north": 31, "south": 58}


@pytest.fixture(scope="module")
def found():
    return posterior(coins(TWO), Coins(100), seed=1)


def test_nothing_is_drawn_before_draws_are_needed(found):
    fresh = posterior(coins(TWO), Coins(100), seed=1)
    fresh.interval()
    fresh.mean("heads")
    fresh.probability("share", group="north", above=0.3)
    assert str(fresh)
    assert "draws" not in vars(fresh)
    assert found.draws["share"].shape == (4, 1000, 2)


@pytest.mark.theorem("Posterior.accuracy")
def test_an_exact_interval_is_that_of_the_law(found):
    made = found.interval("share")
    for place, law in enumerate(found.exact["share"]):
        assert law.cdf(made.low[place]) == pytest.approx(0.025)
        assert law.cdf(made.high[place]) == pytest.approx(0.975)
        heads = found.exact["heads"][place]
        assert enumerated(heads.masses, 100, made.low[place]) == pytest.approx(0.025, abs=2e-4)
    assert made.confidence == 0.95
    assert made.target is Target.POPULATION


def test_an_interval_for_an_integer_has_integer_ends_and_at_least_the_confidence(found):
    made = found.interval("heads", 0.9)
    for place, law in enumerate(found.exact["heads"]):
        low, high = made.low[place], made.high[place]
        assert float(low).is_integer()
        assert law.below(low) <= 0.05
        assert law.cdf(high) >= 0.95
        assert 0.9 <= law.cdf(high) - law.below(low) <= 1
    assert made.target is Target.TABLE


@pytest.mark.theorem("Posterior.accuracy")
def test_draws_give_what_the_law_gives(found):
    """Within 6 standard errors of 4,000 seeded draws."""
    for name in ("share", "heads"):
        for place, law in enumerate(found.exact[name]):
            draws = found[name][:, place]
            assert abs(draws.mean() - law.mean) < 6 * law.deviation / math.sqrt(len(draws))
            assert DrawnMarginal(draws).deviation == pytest.approx(law.deviation, rel=0.1)
    assert found["share", "south"].shape == (4000,)
    assert found["heads"].dtype.kind == "i"


def test_stored_draws_serve_where_no_law_is_exact():
    exact, chained = (posterior(coins(TWO), Coins(100, chains=kind), seed=5) for kind in ("", "good"))
    assert not chained.independent
    assert chained.interval().low == pytest.approx(exact.interval().low, abs=0.02)
    assert chained.quantile(0.5, "heads") == pytest.approx(exact.quantile(0.5, "heads"), abs=1)
    assert chained.deviation() == pytest.approx(exact.deviation(), rel=0.1)
    assert chained.probability("share", group="north", above=0.3).error > 0


@pytest.mark.theorem("posterior.accuracy")
def test_draws_that_failed_are_not_handed_out():
    with pytest.raises(NotConverged, match="share: R-hat is"):
        posterior(coins(TWO), Coins(100, chains="stuck"), seed=1)


def test_draws_that_are_not_numbers_are_not_handed_out():
    with pytest.raises(NotConverged, match="must be finite"):
        DrawnMarginal(np.array([1.0, np.nan]))


@pytest.mark.theorem("joint_rest.accuracy")
def test_intervals_together_hold_together():
    """Ten independent groups: the intervals of all hold a point drawn from the posterior with the confidence.

    4,000 other draws; 6 standard errors of a share of .95 with those of the level (the same number of draws).
    """
    ten = {f"g{place}": 10 * place for place in range(10)}
    made = posterior(coins(ten), Coins(100), seed=3)
    alone, together = made.interval(), made.interval(together=True)
    assert (together.low < alone.low).all()
    assert (together.high > alone.high).all()
    other = posterior(coins(ten), Coins(100), seed=4)["share"]
    held = ((other >= together.low) & (other <= together.high)).all(axis=1).mean()
    assert abs(held - 0.95) < 6 * math.sqrt(2 * 0.95 * 0.05 / 4000)
    assert ((other >= alone.low) & (other <= alone.high)).all(axis=1).mean() < 0.75


@pytest.mark.theorem("joint_rest.accuracy")
def test_together_is_never_wider_than_the_union_bound_and_never_narrower_than_alone():
    rng = np.random.default_rng(2)
    for draws in (rng.normal(size=(1000, 7)), np.zeros((1000, 3)), rng.integers(0, 2, size=(1000, 4))):
        assert 0.05 / draws.shape[1] <= joint_rest(draws, 0.95) <= 0.05 + 1e-12


@pytest.mark.theorem("Probability.accuracy")
def test_an_exact_probability_is_that_of_the_law(found):
    law = found.exact["share"][0]
    assert float(found.probability("share", group="north", above=0.3)) == 1 - law.cdf(0.3)
    assert found.probability("share", group="north", above=0.3).error == 0
    heads = found.exact["heads"][1]
    between = found.probability("heads", group="south", above=50, below=60)
    assert between.value == pytest.approx(heads.masses[51:60].sum(), abs=1e-14)


@pytest.mark.theorem("Posterior.accuracy", "Probability.accuracy")
def test_a_counted_probability_is_within_its_error_of_the_exact_one(found):
    exact = found.probability("share", group="north", above=0.3).value
    made = found.probability(lambda draws: draws["share", "north"] > 0.3)
    assert made.error == pytest.approx(math.sqrt(exact * (1 - exact) / 4000), rel=0.05)
    assert abs(made.value - exact) < 6 * made.error
    south = found.probability(lambda draws: draws["share", "south"] > draws["share", "north"])
    assert south.value > 0.99
    assert south.error > 0


@pytest.mark.theorem("Probability.accuracy")
def test_correlated_draws_count_less():
    walk = np.random.default_rng(1).normal(size=(4, 1000)).cumsum(axis=1) / 30
    slow = Posterior(Coins(), (released(),), (Parameter("x", "", Target.POPULATION),), {"x": walk}, "a walk")
    fast = Posterior(Coins(), (released(),), (Parameter("x", "", Target.POPULATION),), lambda *_: {"x": walk}, "drawn")
    errors = [one.probability(lambda draws: draws["x"] > 0).error for one in (slow, fast)]
    assert errors[0] > 5 * errors[1]


def test_diagnostics_are_told_for_chains_and_not_needed_for_independent_draws(found):
    assert "independent draws" in str(found.diagnostics())
    table = posterior(coins(TWO), Coins(100, chains="good"), seed=1).diagnostics()
    assert [row[-1] for row in table.rows] == ["passed", "passed"]


def test_facts_say_what_was_charged_and_that_this_costs_nothing():
    facts = dict(posterior(released(guarantee=PureDP(0.5)), Coins(100)).facts())
    assert facts["cost of this posterior"].startswith("nothing")
    assert facts["charged before"] == "epsilon 0.5 (pure differential privacy)"
    assert "Coins(people=100" in facts["model"]


def test_several_releases_are_charged_together_and_one_release_once():
    one, again, other = released(), released(), released(place=1, guarantee=PureDP(0.25))
    made = posterior(released(), Coins(100), seed=1)
    both = Posterior(made.model, (one, again, other), made.parameters, made.drawn, made.method)
    assert both.guarantee == PureDP(0.75)
    mixed = Posterior(made.model, (one, released(place=2, guarantee=ZCDP(0.1))), made.parameters, made.drawn, "")
    assert mixed.guarantee is None
    assert len([name for name, _ in mixed.facts() if name == "charged before"]) == 2


def test_a_rehearsal_says_so():
    made = posterior(released(rehearsed=True), Coins(100), seed=1)
    assert made.facts()[0][0] == "rehearsal"
    assert "rehearsal" in str(made)
    assert "charged before" not in dict(made.facts())


def test_what_was_released_stands_beside_the_count(found):
    assert found.interval("heads").naive == (31.0, 58.0)
    assert found.interval("share").naive is None  # a share of whom, only a model knows


def test_columns_have_the_names_of_the_keys(found):
    assert list(found.interval().to_dict()) == ["region", "value", "low", "high"]
    assert list(found.to_dict()) == ["parameter", "region", "median", "low", "high", "mean", "deviation"]
    assert found.to_pandas().shape == (4, 7)
    assert found.to_polars().columns == list(found.to_dict())
    assert found.to_arrow().num_rows == 4
    clash = posterior(coins(TWO, key="value"), Coins(100), seed=1)
    assert list(clash.interval().to_dict()) == ["value", "value_", "low", "high"]


def test_a_single_number_is_one_line():
    made = posterior(coins(31), Coins(100), seed=1)
    assert made.parameters[0].groups == ((),)
    one = Posterior(
        Coins(), (released(),), (Parameter("x", "x", Target.POPULATION),), {"x": np.ones((4, 100))}, "constant"
    )
    assert str(one.interval()) == "x: 1 [1, 1] (95 %, population)"
    assert one.interval().value == 1.0
    assert one.mean() == 1.0


def test_never_more_than_sixty_rows_are_shown():
    many = posterior(coins({f"g{place}": place % 90 for place in range(70)}), Coins(100), seed=1)
    lines = str(many).splitlines()
    assert sum(line.startswith(("share ", "heads ")) for line in lines) == 60
    assert "80 more rows" in lines[0]
    assert str(many.interval()).count("\n") == 62
    assert len(many.to_dict()["parameter"]) == 140
    assert many._repr_html_().count("<tr>") == 61


def test_labels_are_escaped_and_null_is_named():
    made = posterior(coins({"<b>\x1b": 31, None: 58}), Coins(100), seed=1)
    assert "<b>" not in made._repr_html_()
    assert "\x1b" not in str(made)
    assert made.interval()[None].low < 0.58
    assert made.parameters[0].words[1] == "NULL"


@pytest.mark.theorem("Posterior.privacy", "posterior.privacy")
def test_a_posterior_leaves_the_ledger_as_it_is():
    frame = pandas.DataFrame({"person": range(90), "ward": ["a", "b", "b"] * 30})
    columns = {"ward": {"values": ["a", "b"]}}
    with dp.Session.from_frames(t=frame, unit="person", rows=1, budget=PureDP(2), columns=columns) as session:
        answer = session.sql("SELECT ward, COUNT(*) AS n FROM t GROUP BY ward", epsilon=0.5)
        before = str(session.balance)
        made = posterior(answer, Coins(90), seed=1)
        assert made.interval().to_dict()["ward"] == ["a", "b"]
        made.check(seed=1)
        posterior([answer, answer], Coins(90), seed=1)
        assert str(session.balance) == before
        assert made.guarantee == answer.guarantee
    assert dp.bayes.posterior is posterior


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ({"name": "other"}, "name must be one of share, heads"),
        ({"confidence": 1.0}, "confidence must be"),
        ({"confidence": 0}, "confidence must be"),
    ],
)
def test_bad_intervals_are_refused(found, wrong, words):
    with pytest.raises(ParameterError, match=words):
        found.interval(**wrong)


@pytest.mark.parametrize(
    ("arguments", "named", "words"),
    [
        (("share",), {"group": "north"}, "above= or below= must be given"),
        (("share",), {"above": 0.5}, "group= must be given"),
        (("share",), {"above": 0.5, "group": "west"}, "there is no such group"),
        (("other",), {"above": 0.5}, "name must be one of"),
        ((lambda draws: draws["share"] > 0,), {}, "one True or False for every draw"),
        ((lambda draws: draws["share", "north"],), {}, "one True or False for every draw"),
        ((lambda draws: draws["wrong"] > 0,), {}, "name must be one of"),
        ((lambda draws: draws["share", "north"] > 0,), {"above": 1}, "inside the function"),
    ],
)
def test_bad_statements_are_refused(found, arguments, named, words):
    with pytest.raises(ParameterError, match=words):
        found.probability(*arguments, **named)


@pytest.mark.parametrize("seed", [-1, 1.5, True, "1"])
def test_bad_seeds_are_refused(seed):
    with pytest.raises(ParameterError, match="seed must be"):
        posterior(coins(TWO), Coins(100), seed=seed)


def test_what_is_no_model_or_no_release_is_refused():
    with pytest.raises(ParameterError, match="model must be a model"):
        posterior(coins(TWO), "beta")
    with pytest.raises(InputError, match="released must"):
        posterior(12, Coins(100))
    with pytest.raises(ParameterError, match="progress must be"):
        posterior(coins(TWO), Coins(100), progress=3)


def test_a_seed_repeats_the_draws():
    first, second = (posterior(coins(TWO), Coins(100), seed=9)["share"] for _ in range(2))
    assert (first == second).all()


def test_a_measurement_by_hand_has_no_stated_guarantee_unless_a_mechanism_stated_one():
    by_law = posterior(coins(TWO), Coins(100), seed=1)
    assert by_law.guarantee is None
    assert "unknown" in str(by_law)
    stated = noisy_counts(TWO, noise=dp.Laplace(epsilon=0.5, sensitivity=1), key="region")
    assert posterior(stated, Coins(100), seed=1).guarantee.epsilon == 0.5


def test_groups_go_by_the_names_of_their_keys_without_that_of_success():
    counts = {("a", "yes"): 12, ("a", "no"): 41, ("b", "yes"): 33, ("b", "no"): 22}
    answer = noisy_counts(counts, noise=DiscreteLaplace(2), key=["ward", "smoker"])
    for model in (BetaBinomial(1, 1, success=("smoker", "yes")), LogisticCells(success=("smoker", "yes"))):
        assert posterior(answer, model, seed=1).parameter("share").keys == ("ward",)
