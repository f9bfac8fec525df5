"""Records: frozen, exact, canonical; what is read back costs the same to the last bit, and nothing is guessed."""

from __future__ import annotations

import dataclasses
import hashlib
import json
import math
import subprocess
import sys
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet._version import __version__
from discreet.errors import DiscreetError, MissingParameter, NoSoundConversion, ParameterError, RelationMismatch
from discreet.laws.enclosure import Enclosure
from discreet.privacy import (
    ZCDP,
    ApproxDP,
    GaussianDP,
    PrivacyLoss,
    PureDP,
    Relation,
    RenyiDP,
    Sampler,
    above_threshold_loss,
    balls_in_bins_loss,
    bounded_range_loss,
    cyclic_poisson_loss,
    discrete_gaussian_loss,
    discrete_laplace_loss,
    gaussian_loss,
    laplace_loss,
    randomized_response_loss,
    subsample,
    table_loss,
    truncated_loss,
)
from discreet.privacy.accounting.directed_loss import clear_caches
from discreet.privacy.records.kinds import SHAPES, ReleaseKind
from discreet.privacy.records.record import ReleaseRecord, records_from_json, records_to_json, replay

record = ReleaseRecord.of
PEOPLE = {"relation": Relation.ADD_REMOVE, "unit": "patient"}
STEP = record("gaussian", scale=1, sampler="poisson", rate=0.01, count=10_000, **PEOPLE)

scales = st.floats(5.0, 500.0) | st.fractions(5, 500, max_denominator=1000) | st.integers(5, 500)
small = st.floats(1e-3, 0.2) | st.fractions(Fraction(1, 1000), Fraction(1, 5), max_denominator=10_000)
tiny = st.floats(1e-12, 1e-7)


@st.composite
def chance_rows(draw: st.DrawFn) -> dict[str, object]:
    weights = draw(st.lists(st.tuples(st.integers(10, 13), st.integers(10, 13)), min_size=2, max_size=4))
    rows = [[Fraction(pair[side], sum(one[side] for one in weights)) for pair in weights] for side in (0, 1)]
    return {"with_person": rows[0], "without_person": rows[1]}


parameters = st.one_of(
    st.tuples(st.just("gaussian"), st.fixed_dictionaries({"scale": scales}, optional={"sensitivity": small})),
    st.tuples(
        st.just("matrix gaussian"),
        st.fixed_dictionaries({"scale": scales, "participations": st.integers(1, 20)}, optional={"sensitivity": small}),
    ),
    st.tuples(st.just("laplace"), st.fixed_dictionaries({"scale": scales})),
    st.tuples(st.just("discrete gaussian"), st.fixed_dictionaries({"scale": st.integers(5, 40)})),
    st.tuples(st.just("discrete laplace"), st.fixed_dictionaries({"scale": st.integers(5, 40)})),
    st.tuples(
        st.just("randomized response"), st.fixed_dictionaries({"epsilon": small, "categories": st.integers(2, 9)})
    ),
    st.tuples(st.just("bounded range"), st.fixed_dictionaries({"epsilon": small})),
    st.tuples(st.just("above threshold"), st.fixed_dictionaries({"epsilon": small})),
    st.tuples(st.just("table"), chance_rows()),
    st.tuples(st.just("pure"), st.fixed_dictionaries({"epsilon": small})),
    st.tuples(st.just("approx"), st.fixed_dictionaries({"epsilon": small, "delta": tiny})),
    st.tuples(st.just("zcdp"), st.fixed_dictionaries({"rho": small}, optional={"delta": tiny})),
    st.tuples(st.just("renyi"), st.fixed_dictionaries({"alpha": st.integers(2, 64), "epsilon": small})),
    st.tuples(st.just("gaussian dp"), st.fixed_dictionaries({"mu": small})),
)


@st.composite
def records(draw: st.DrawFn) -> ReleaseRecord:
    kind, numbers = draw(parameters)
    sampled = {}
    if kind in {"gaussian", "pure"} and draw(st.booleans()):
        sampled = {"sampler": "poisson", "rate": draw(st.sampled_from([0.01, Fraction(1, 3), 1]))}
    return record(kind, **PEOPLE, **numbers, **sampled, count=draw(st.integers(1, 50)))


def ledgers(longest: int) -> st.SearchStrategy[list[ReleaseRecord]]:
    return st.lists(records(), min_size=1, max_size=longest)


def ends(loss: PrivacyLoss) -> list[float]:
    """Return both ends of some questions; a coarse tolerance keeps the answers quick."""
    found = [*(one.epsilon(1e-5, tolerance=0.5) for one in (loss, loss.remove)), loss.delta(1.0, tolerance=0.5)]
    return [end for one in found for end in (one.lower, one.upper)]


@given(ledgers(6))
def test_reading_what_was_written_gives_the_same_records_and_the_same_bytes(ledger):
    text = records_to_json(ledger)
    again = records_from_json(text)
    assert list(again) == ledger
    assert records_to_json(again) == text
    assert [one.digest for one in again] == [one.digest for one in ledger]


@pytest.mark.theorem("ReleaseRecord.privacy")
@settings(max_examples=25)
@given(ledgers(3))
def test_replay_of_the_parsed_text_reproduces_the_total_to_the_bit(ledger):
    first = ends(replay(ledger))
    again = replay(records_from_json(records_to_json(ledger)))
    assert again == replay(ledger)
    clear_caches()
    assert ends(again) == first


@pytest.mark.theorem("ReleaseRecord.privacy")
@settings(max_examples=25)
@given(ledgers(3), st.permutations(range(5)))
def test_an_answer_does_not_depend_on_what_was_asked_before(ledger, order):
    questions = [
        lambda loss: loss.epsilon(1e-5, tolerance=0.5),
        lambda loss: loss.epsilon(1e-3, tolerance=0.5),
        lambda loss: loss.epsilon(1e-5, tolerance=0.25),
        lambda loss: loss.delta(1.0, tolerance=0.5),
        lambda loss: loss.delta(0.25, tolerance=0.5),
    ]
    loss = replay(ledger)
    clear_caches()
    loss.renyi(2)
    later = {index: bits(questions[index](loss)) for index in order}
    for index, found in later.items():
        clear_caches()
        assert bits(questions[index](loss)) == found


def bits(found: Enclosure) -> list[str]:
    return [end.hex() for end in (found.lower, found.estimate, found.upper)]


LEDGER = [
    record("gaussian", scale=Fraction(200, 3), count=100, **PEOPLE),
    record("laplace", scale=30.1, count=50, **PEOPLE),
    record("randomized response", epsilon=0.05, categories=4, **PEOPLE),
    record("approx", epsilon=0.1, delta=1e-9, **PEOPLE),
    record("zcdp", rho=1e-3, **PEOPLE),
]


@pytest.mark.theorem("ReleaseRecord.privacy")
@pytest.mark.parametrize("ledger", [[STEP], LEDGER, LEDGER[:2], LEDGER[:3]], ids=["sampled", "mix", "noise", "atoms"])
def test_replay_in_a_fresh_interpreter_reproduces_the_total_to_the_bit(ledger):
    script = (
        "import sys; from discreet.privacy.records.record import records_from_json, replay\n"
        "loss = replay(records_from_json(sys.stdin.read()))\n"
        "found = [loss.epsilon(1e-5), loss.delta(1.0)]\n"
        "print(*(end.hex() for one in found for end in (one.lower, one.estimate, one.upper)))"
    )
    done = subprocess.run(  # noqa: S603 (our own program)
        [sys.executable, "-c", script], input=records_to_json(ledger), capture_output=True, text=True, check=True
    )
    clear_caches()
    loss = replay(ledger)
    _ = loss.delta(0.5), loss.epsilon(1e-3)  # the fresh one was asked neither, and the others the other way round
    delta, epsilon = loss.delta(1.0), loss.epsilon(1e-5)
    assert done.stdout.split() == [*bits(epsilon), *bits(delta)]


@pytest.mark.theorem("ReleaseRecord.privacy")
@pytest.mark.parametrize(
    ("made", "expected"),
    [
        (record("gaussian", scale=0.7, sensitivity=3, **PEOPLE), gaussian_loss(0.7, sensitivity=3)),
        (record("laplace", scale=0.7, sensitivity=0.1, **PEOPLE), laplace_loss(0.7, sensitivity=0.1)),
        (record("discrete gaussian", scale=7, sensitivity=2, **PEOPLE), discrete_gaussian_loss(7, sensitivity=2)),
        (record("discrete_laplace", scale=7, **PEOPLE), discrete_laplace_loss(7)),
        (record("randomized response", epsilon=0.3, **PEOPLE), randomized_response_loss(0.3)),
        (record("bounded range", epsilon=0.3, **PEOPLE), bounded_range_loss(0.3)),
        (record("above threshold", epsilon=0.3, **PEOPLE), above_threshold_loss(0.3)),
        (
            record("table", with_person=[0.75, 0.25], without_person=[0.5, 0.5], **PEOPLE),
            table_loss([0.75, 0.25], [0.5, 0.5]),
        ),
        (record("pure", epsilon=0.3, **PEOPLE), PureDP(0.3).loss),
        (record("approx", epsilon=0.3, delta=1e-7, **PEOPLE), ApproxDP(0.3, 1e-7).loss),
        (record("zcdp", rho=0.3, **PEOPLE), ZCDP(0.3).loss),
        (record("renyi", alpha=8, epsilon=0.3, **PEOPLE), RenyiDP(8, 0.3).loss),
        (record("gaussian dp", mu=0.3, **PEOPLE), GaussianDP(0.3).loss),
    ],
    ids=lambda one: one.kind.value if isinstance(one, ReleaseRecord) else "",
)
def test_every_kind_costs_what_its_public_constructor_says(made, expected):
    found = [made.loss.epsilon(0.01), made.loss.delta(0.1)]
    direct = [expected.epsilon(0.01), expected.delta(0.1)]
    assert [(one.lower, one.upper) for one in found] == [(one.lower, one.upper) for one in direct]
    assert made.loss.relation is Relation.ADD_REMOVE


def test_every_kind_is_priced():
    assert set(SHAPES) == set(ReleaseKind)


def test_samplers_and_counts_are_part_of_the_price():
    expected = subsample(gaussian_loss(1, relation=Relation.ADD_REMOVE), rate=0.01) * 10_000
    assert STEP.loss == expected
    fixed = record(
        "gaussian", scale=1, relation="change one", unit="patient", sampler=Sampler.FIXED_SIZE, rate=0.5, count=2
    )
    assert fixed.loss.samplers == (Sampler.FIXED_SIZE,)
    assert fixed.loss.releases == 2


def test_the_canonical_text_has_sorted_keys_exact_numbers_and_a_digest():
    text = STEP.to_json()
    assert text == (
        '{"count":10000,"format":2,"kind":"gaussian","library":"' + __version__ + '",'
        '"parameters":{"scale":1,"sensitivity":1},"rate":"5764607523034235/576460752303423488",'
        '"relation":"add/remove","sampler":"poisson","unit":"patient"}'
    )
    assert Fraction(5764607523034235, 576460752303423488) == Fraction(0.01)
    assert STEP.digest == hashlib.sha256(text.encode()).hexdigest()
    shuffled = json.dumps(dict(reversed(json.loads(text).items())), indent=3)
    assert ReleaseRecord.from_json(shuffled).digest == STEP.digest
    assert ReleaseRecord.from_json(text.encode()) == STEP


def test_fractions_are_read_in_any_terms_and_written_in_lowest():
    text = STEP.to_json().replace('"scale":1', '"scale":"4/6"')
    assert '"scale":"2/3"' in ReleaseRecord.from_json(text).to_json()


def test_a_record_is_frozen_hashable_and_prints_the_call_that_makes_it():
    with pytest.raises(dataclasses.FrozenInstanceError):
        STEP.count = 1
    assert len({STEP, ReleaseRecord.from_json(STEP.to_json())}) == 1
    assert repr(STEP) == (
        "ReleaseRecord.of('gaussian', scale=1, sensitivity=1, relation='add/remove', unit='patient', "
        "sampler='poisson', rate=0.01, count=10000)"
    )
    for one in LEDGER:
        assert eval(repr(one), {"ReleaseRecord": ReleaseRecord, "Fraction": Fraction}) == one  # noqa: S307 (our own text)


def test_the_writer_of_a_record_stays_in_it():
    older = ReleaseRecord.from_json(STEP.to_json().replace(__version__, "0.0.7"))
    assert older.library == "0.0.7"
    assert older.loss == STEP.loss


def test_a_record_has_no_place_for_anything_private():
    names = {field.name for field in dataclasses.fields(ReleaseRecord)}
    public = {"kind", "parameters", "relation", "unit", "sampler", "rate", "count", "library", "format"}
    assert names == public == set(json.loads(STEP.to_json()))


def refused(text: str | bytes, *, kind: type[DiscreetError] = ParameterError) -> str:
    """Return the one message of a refusal, which has no chain and is short."""
    with pytest.raises(kind) as caught:
        ReleaseRecord.from_json(text)
    error = caught.value
    assert error.__cause__ is None
    assert error.__context__ is None or error.__suppress_context__
    assert len(str(error)) < 700
    assert "\n" not in str(error)
    return str(error)


def changed(**fields: object) -> str:
    """Return the text of a good record with some fields replaced by JSON text, or left out."""
    good = {name: json.dumps(value) for name, value in STEP.to_dict().items()}
    for name, value in fields.items():
        good.pop(name, None)
        if value is not None:
            good[name] = str(value)
    return "{" + ",".join(f'"{name}":{value}' for name, value in good.items()) + "}"


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"kind": '"cauchy"'}, "'cauchy' is not a kind of release"),
        ({"kind": "7"}, "kind must be one of"),
        ({"kind": '"' + "x" * 100_000 + '"'}, "100000 characters"),
        ({"answer": "41"}, "'answer' is unknown"),
        ({"unit": None}, "'unit' is missing"),
        ({"unit": '""'}, "unit is required"),
        ({"unit": '"  "'}, "unit is required"),
        ({"unit": "3"}, "unit must be a string"),
        ({"unit": '"a\\nb"'}, "printable"),
        ({"unit": '"\\ud800"'}, "printable"),
        ({"unit": '"' + "x" * 10_000 + '"'}, "at most 200"),
        ({"library": "1"}, "library must be a string"),
        ({"format": "1"}, "format 2"),
        ({"format": "true"}, "format must be a whole number"),
        ({"format": '"2"'}, "format must be a whole number"),
        ({"count": "0"}, "count must be at least 1"),
        ({"count": "-3"}, "count must be at least 1"),
        ({"count": "true"}, "count must be a whole number"),
        ({"count": '"10"'}, "count must be a whole number"),
        ({"count": "1" * 400}, "count must not exceed"),
        ({"count": "1" * 5000}, "at most 2000 digits"),
        ({"count": "2.0"}, "write a fraction"),
        ({"rate": "0.01"}, 'such as "1/100"'),
        ({"rate": "NaN"}, "NaN is not one"),
        ({"rate": "-Infinity"}, "-Infinity is not one"),
        ({"rate": "1e400"}, "1e400 is not one"),
        ({"rate": '"nan"'}, "integer or a fraction"),
        ({"rate": '"1/0"'}, "integer or a fraction"),
        ({"rate": '"1_0/3"'}, "integer or a fraction"),
        ({"rate": '"\u0661/3"'}, "integer or a fraction"),
        ({"rate": '"-1/3"'}, "rate is a probability"),
        ({"rate": "2"}, "rate is a probability"),
        ({"rate": "0"}, "rate of 0"),
        ({"rate": "null"}, "needs its rate"),
        ({"rate": '"1/' + "3" * 3000 + '"'}, "2000 digits"),
        ({"rate": "[1]"}, "integer or a fraction"),
        ({"sampler": '"everyone"'}, "a rate belongs to a sample"),
        ({"sampler": '"shuffled"'}, "not independent samples"),
        ({"sampler": "1"}, "name of a sampler"),
        ({"sampler": '"' + "y" * 10_000 + '"'}, "10000 characters"),
        ({"relation": '"swap"'}, "relation must be one of"),
        ({"relation": "{}"}, "relation must be one of"),
        ({"parameters": "{}"}, "'scale' is missing"),
        ({"parameters": "[]"}, "a JSON object is needed"),
        ({"parameters": '{"scale":1}'}, "'sensitivity' is missing"),
        ({"parameters": '{"scale":0,"sensitivity":1}'}, "scale must be greater than 0"),
        ({"parameters": '{"scale":-1,"sensitivity":1}'}, "scale must be greater than 0"),
        ({"parameters": '{"scale":true,"sensitivity":1}'}, "scale must be an integer or a fraction"),
        ({"parameters": '{"scale":[1],"sensitivity":1}'}, "scale must be"),
        ({"parameters": '{"scale":null,"sensitivity":1}'}, "scale must be an integer or a fraction"),
        ({"parameters": '{"scale":1,"sensitivity":1,"seed":1}'}, "'seed' is unknown"),
        ({"parameters": '{"scale":1,"scale":2,"sensitivity":1}'}, "'scale' is written twice"),
        ({"parameters": '{"scale":{"a":[{}]},"sensitivity":1}'}, "scale must be an integer or a fraction"),
    ],
)
def test_what_is_not_fully_understood_is_refused_with_what_to_change(fields, words):
    assert words in refused(changed(**fields))


@pytest.mark.parametrize(
    "text",
    ["", "{", "null", "[]", '"gaussian"', "7", "{} {}", b"\xff\xfe", "[" * 100_000, '{"a":' * 100_000],
    ids=range(10),
)
def test_text_that_is_no_record_is_refused_in_one_line(text):
    assert refused(text)


def test_doubled_keys_are_refused_wherever_they_are():
    assert "'count' is written twice" in refused(changed()[:-1] + ',"count":1}')


def test_things_that_are_not_text_are_refused():
    with pytest.raises(ParameterError, match="must be text"):
        ReleaseRecord.from_json(None)


junk = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)


@given(st.sampled_from(sorted(STEP.to_dict())), junk)
def test_any_field_may_hold_junk_and_the_answer_is_a_record_or_a_discreet_error(name, value):
    text = changed(**{name: json.dumps(value)})
    try:
        ReleaseRecord.from_json(text)
    except DiscreetError as error:
        assert error.__cause__ is None  # noqa: PT017
        assert len(str(error)) < 700  # noqa: PT017


@given(parameters, st.sampled_from([math.nan, math.inf, -math.inf, -1.0, "1", None, True, [1], 10**400]))
def test_a_senseless_parameter_is_refused_by_name(made, bad):
    kind, numbers = made
    for name in numbers:
        with pytest.raises(ParameterError) as caught:
            record(kind, **PEOPLE, **{**numbers, name: bad})
        # a row of one chance is a row; that it does not fit the other one is about both
        assert name in str(caught.value) or (kind == "table" and bad == [1])


def test_a_parameter_of_another_kind_is_refused():
    with pytest.raises(ParameterError, match="'laplace' takes scale and sensitivity, and nothing named 'sigma'"):
        record("laplace", sigma=1, **PEOPLE)
    with pytest.raises(ParameterError, match="'laplace' takes scale and sensitivity: scale is missing"):
        record("laplace", **PEOPLE)


def test_a_number_that_could_not_be_read_back_is_refused_when_the_record_is_made():
    longest = Fraction(1, 2**5998 + 1)
    made = record("pure", epsilon=longest, **PEOPLE)
    assert ReleaseRecord.from_json(made.to_json()) == made
    for numerator, denominator in ((1, 2**6000), (3**3000, 3**3001 + 1), (1, 3**10_000)):
        with pytest.raises(ParameterError, match="epsilon is a fraction of more than 6000 bits"):
            record("pure", epsilon=Fraction(numerator, denominator), **PEOPLE)
    with pytest.raises(ParameterError, match="rate is a fraction of more than 6000 bits"):
        record("gaussian", scale=1, sampler="poisson", rate=Fraction(1, 2**6000), **PEOPLE)


@pytest.mark.parametrize("number", [5e-324, 2.2250738585072014e-308, 1.7976931348623157e308, 0.1])
def test_every_float_can_be_read_back(number):
    made = record("gaussian dp", mu=number, **PEOPLE)
    assert ReleaseRecord.from_json(made.to_json()) == made


def test_more_releases_than_have_a_price_are_no_record():
    record("pure", epsilon=1, count=2**60, **PEOPLE)
    with pytest.raises(ParameterError, match=r"at most 2\^60 releases"):
        record("pure", epsilon=1, count=2**60 + 1, **PEOPLE)


@pytest.mark.parametrize("row", [{Fraction(1, 4), Fraction(3, 4)}, frozenset({1}), {1: 0}])
def test_chances_in_no_order_are_no_row(row):
    with pytest.raises(ParameterError, match="with_person must be a row of chances"):
        record("table", with_person=row, without_person=[0.5, 0.5], **PEOPLE)


def test_the_unit_and_the_relation_are_never_guessed():
    with pytest.raises(TypeError, match="unit"):
        record("pure", epsilon=1, relation="unstated")
    with pytest.raises(TypeError, match="relation"):
        record("pure", epsilon=1, unit="patient")


def test_a_sample_without_a_price_is_no_record():
    with pytest.raises(RelationMismatch, match="add/remove"):
        record("gaussian", scale=1, relation="change one", unit="patient", sampler="poisson", rate=0.1)
    with pytest.raises(RelationMismatch, match="State it on the sensitivity"):
        record("gaussian", scale=1, relation="unstated", unit="patient", sampler="poisson", rate=0.1)
    with pytest.raises(NoSoundConversion):
        record("zcdp", rho=1, sampler="poisson", rate=0.1, **PEOPLE)


def test_records_of_different_relations_or_units_do_not_add_up():
    one = record("pure", epsilon=1, **PEOPLE)
    with pytest.raises(RelationMismatch):
        replay([one, record("pure", epsilon=1, relation="change one", unit="patient")])
    with pytest.raises(ParameterError, match="'patient' and 'visit'"):
        replay([one, record("pure", epsilon=1, relation="add/remove", unit="visit")])


def test_a_ledger_says_which_record_it_cannot_read():
    text = f"[{STEP.to_json()},{changed(kind=json.dumps('cauchy'))}]"
    with pytest.raises(ParameterError, match="record 2 of 2: 'cauchy'"):
        records_from_json(text)
    with pytest.raises(ParameterError, match="JSON list"):
        records_from_json(STEP.to_json())


def test_replay_of_nothing_or_of_something_else_is_refused():
    with pytest.raises(ParameterError, match="nothing to replay"):
        replay([])
    with pytest.raises(ParameterError, match="replay takes records"):
        replay([PureDP(1).loss])


@pytest.mark.parametrize("bad", [[1], (("scale",),), (("scale", 1), ("scale", 2)), 7, None])
def test_parameters_of_another_shape_are_refused(bad):
    with pytest.raises(ParameterError, match="pairs of a name and a value"):
        ReleaseRecord(kind=ReleaseKind.GAUSSIAN, parameters=bad, relation=Relation.UNSTATED, unit="patient")


@pytest.mark.theorem("ReleaseRecord.privacy")
def test_epochs_of_balls_in_bins_are_recorded_with_one_over_their_steps():
    epochs = record(
        "gaussian", **PEOPLE, scale=2, sensitivity=2, sampler="balls in bins", rate=Fraction(1, 30), count=2
    )
    assert ReleaseRecord.from_json(epochs.to_json()) == epochs
    assert epochs.format == 2  # readers that do not know the sampler refuse it by name: nothing is misread
    relation = Relation.ADD_REMOVE
    assert replay([epochs]) == balls_in_bins_loss(2, sensitivity=2, steps=30, relation=relation) * 2
    with pytest.raises(ParameterError, match=r"1/steps exactly.*Fraction\(1, 100\)"):
        record("gaussian", **PEOPLE, scale=2, sampler="balls in bins", rate=0.01)
    with pytest.raises(ParameterError, match="kind 'gaussian'"):
        record("laplace", **PEOPLE, scale=2, sampler="balls in bins", rate=Fraction(1, 4))
    with pytest.raises(MissingParameter, match=r"Fraction\(1, 100\)"):
        record("gaussian", **PEOPLE, scale=2, sampler="balls in bins")
    with pytest.raises(RelationMismatch):
        record(
            "gaussian", **{**PEOPLE, "relation": "change one"}, scale=2, sampler="balls in bins", rate=Fraction(1, 4)
        )


@pytest.mark.theorem("ReleaseRecord.privacy", "truncated_loss.privacy")
def test_correlated_noise_and_dropped_rows_are_recorded():
    run = record("matrix gaussian", **PEOPLE, scale=4, sensitivity=2, participations=9)
    assert run.loss.epsilon(1e-6).upper == gaussian_loss(4, sensitivity=6).epsilon(1e-6).upper
    turns = record("matrix gaussian", **PEOPLE, scale=1, sampler="poisson", rate=Fraction(1, 25), count=250)
    cyclic = cyclic_poisson_loss(1, rate=0.01, groups=4, steps=1000, relation=Relation.ADD_REMOVE)
    assert turns.loss.epsilon(1e-6).upper == pytest.approx(cyclic.epsilon(1e-6).upper, rel=1e-6)
    steps = record("gaussian", **PEOPLE, scale=1, sampler="poisson", rate=0.01, count=100)
    dropped = record("approx", **PEOPLE, epsilon=0, delta=1e-9)
    assert replay([steps, dropped]).delta(1) == truncated_loss(steps.loss, chance=1e-9).delta(1)
