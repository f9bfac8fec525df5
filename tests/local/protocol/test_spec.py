"""A spec is public, frozen and canonical, and reading one survives any text."""

from __future__ import annotations

import copy
import json
import pickle
import tracemalloc
from contextlib import suppress
from dataclasses import MISSING, FrozenInstanceError, fields, replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet import local
from discreet.errors import InputError, MissingParameter, ParameterError
from discreet.local import (
    DirectResponse,
    DuchiBit,
    HashedGeometry,
    HeavyHitters,
    HybridGeometry,
    HybridMean,
    OneBitHadamard,
    ProjectiveGeometry,
    Spec,
    UnitVectors,
)
from discreet.local.protocol.spec import FORMAT, VERSION

SPEC = DirectResponse(epsilon=Fraction(1), categories=("tea", "coffee", "wäter [x"))
epsilons = st.fractions(min_value=Fraction(1, 1024), max_value=Fraction(20), max_denominator=1 << 60)


def changed(**fields: Any) -> str:
    return json.dumps({**json.loads(SPEC.to_json()), **fields})


def raw(name: str, text: str) -> str:
    """Put a text that Python could not write in place of a field."""
    return changed(**{name: "PLACE"}).replace('"PLACE"', text)


@given(epsilons, st.integers(2, 1 << 40))
def test_a_spec_read_from_its_own_text_is_the_same_spec(epsilon: Fraction, values: int) -> None:
    try:
        spec = DirectResponse(epsilon=epsilon, categories=values)
        text = spec.to_json()
    except ParameterError:  # so many outputs at so small an epsilon are refused
        return
    again = Spec.from_json(text)
    assert again == spec
    assert again.to_json() == text
    assert hash(again) == hash(spec)
    assert isinstance(again, DirectResponse)
    assert (again.epsilon, again.categories) == (epsilon, values)


def test_the_text_is_canonical_ascii_and_says_format_version_and_protocol() -> None:
    text = SPEC.to_json()
    assert text.isascii()
    assert text == json.dumps(json.loads(text), sort_keys=True, separators=(",", ":"))
    read = json.loads(text)
    assert (read["format"], read["version"], read["protocol"]) == (FORMAT, VERSION, "randomized-response")
    assert read["epsilon"] == "1"


def test_spaces_and_order_do_not_matter_to_reading_but_the_digest_is_of_the_canonical_text() -> None:
    read = json.loads(SPEC.to_json())
    loose = json.dumps(dict(reversed(read.items())), indent=3)
    assert Spec.from_json(loose).digest == SPEC.digest


def test_a_spec_is_frozen() -> None:
    with pytest.raises(FrozenInstanceError):
        SPEC.categories = 9


@pytest.mark.parametrize(
    "other",
    [
        DirectResponse(epsilon=Fraction(1), categories=4),
        DirectResponse(epsilon=Fraction(2), categories=3),
        DirectResponse(epsilon=Fraction(1), categories=3),
        DirectResponse(epsilon=Fraction(1), categories=("coffee", "tea", "wäter [x")),
    ],
)
def test_another_parameter_is_another_digest(other: Spec) -> None:
    assert other != SPEC
    assert other.digest != SPEC.digest


HOSTILE = {
    "empty": "",
    "no object": "[]",
    "a number": "3",
    "null": "null",
    "cut": SPEC.to_json()[:-2],
    "twice": SPEC.to_json() + SPEC.to_json(),
    "nested": "[" * 100_000,
    "nested objects": '{"a":' * 100_000,
    "many lists": '{"categories":[' + "[]," * 100_000 + "[]]}",
    "open text": '{"' + '\\"[' * 50_000,
    "doubled name": SPEC.to_json()[:-1] + ',"epsilon":"2"}',
    "doubled, the last right": '{"epsilon":"2",' + SPEC.to_json()[1:],
    "doubled, both right": '{"epsilon":"1",' + SPEC.to_json()[1:],
    "doubled deep, the last right": SPEC.to_json().replace('{"cells":3,', '{"cells":9,"cells":3,'),
    "doubled deep": raw("derived", '{"coin":"1","coin":"1","cells":3,"inside":1}'),
    "huge exponent": changed(epsilon="1e999999999"),
    "small exponent": changed(epsilon="1e-999999999"),
    "exponent": changed(epsilon="1e0"),
    "underscores": changed(epsilon="1_0"),
    "spaces": changed(epsilon=" 1 "),
    "other digits": changed(epsilon="\u0661"),
    "not lowest": changed(epsilon="2/2"),
    "zero denominator": changed(epsilon="1/0"),
    "negative": changed(epsilon="-1"),
    "zero": changed(epsilon="0"),
    "too large": changed(epsilon="21"),
    "long": changed(epsilon="1" * 5000),
    "long fraction": changed(epsilon=f"{10**310 + 1}/{10**310}"),
    "epsilon int": changed(epsilon=1),
    "epsilon float": changed(epsilon=1.5),
    "epsilon NaN": raw("epsilon", "NaN"),
    "epsilon Infinity": raw("epsilon", "Infinity"),
    "epsilon true": changed(epsilon=True),
    "epsilon null": changed(epsilon=None),
    "epsilon list": changed(epsilon=["1"]),
    "epsilon object": changed(epsilon={}),
    "categories true": changed(categories=True),
    "categories float": changed(categories=3.0),
    "categories text": changed(categories="3"),
    "categories list": changed(categories=[3]),
    "categories null": changed(categories=None),
    "categories object": changed(categories={"a": 1}),
    "categories negative": changed(categories=-3),
    "categories one": changed(categories=1),
    "categories 2^41": changed(categories=1 << 41),
    "categories long": raw("categories", "9" * 4000),
    "categories very long": raw("categories", "9" * 100_000),
    "categories exponent": raw("categories", "3e0"),
    "names text": changed(categories="abc"),
    "names numbers": changed(categories=[1, 2, 3]),
    "names bools": changed(categories=[True, False, True]),
    "names lists": changed(categories=[["a"], ["b"], ["c"]]),
    "names same": changed(categories=["a", "b", "a"]),
    "names few": changed(categories=["a", "b"]),
    "names many": changed(categories=["a", "b", "c", "d"]),
    "names empty text": changed(categories=["a", "b", ""]),
    "names long": changed(categories=["a", "b", "c" * 1025]),
    "names surrogate": raw("categories", '["a","b","\\ud800"]'),
    "names too many": changed(categories=[str(i) for i in range((1 << 20) + 1)]),
    "unknown field": changed(extra=1),
    "unknown protocol": changed(protocol="central"),
    "protocol number": changed(protocol=3),
    "protocol list": changed(protocol=["randomized-response"]),
    "format": changed(format="other"),
    "version 1": changed(version=1),
    "version true": changed(version=True),
    "version text": changed(version="1"),
    "version float": changed(version=1.0),
    "derived missing": json.dumps({k: v for k, v in json.loads(SPEC.to_json()).items() if k != "derived"}),
    "field missing": json.dumps({k: v for k, v in json.loads(SPEC.to_json()).items() if k != "categories"}),
    "derived null": changed(derived=None),
    "derived coin": changed(derived={"coin": "1", "cells": 3, "inside": 1}),
    "derived cells": changed(derived={**json.loads(SPEC.to_json())["derived"], "cells": 4}),
    "derived more": changed(derived={**json.loads(SPEC.to_json())["derived"], "more": 4}),
}


@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE.keys())
def test_hostile_text_is_one_parameter_error(text: str) -> None:
    with pytest.raises(ParameterError) as caught:
        Spec.from_json(text)
    assert caught.value.__cause__ is None
    assert len(str(caught.value)) < 400


@pytest.mark.parametrize("text", [None, 3, b"{}", ["{}"], {"format": FORMAT}])
def test_what_is_no_text_is_refused(text: Any) -> None:
    with pytest.raises(ParameterError):
        Spec.from_json(text)


def test_a_text_too_long_for_a_spec_is_not_read() -> None:
    with pytest.raises(ParameterError):
        Spec.from_json(SPEC.to_json() + " " * (1 << 25))


@pytest.mark.parametrize("repeated", ["a", '\\"', '"', "\\"])
def test_a_long_hostile_text_takes_no_more_memory_than_itself(repeated: str) -> None:
    text = "[" * 1001 + '"' + repeated * (1 << 19)
    tracemalloc.start()
    with pytest.raises(ParameterError):
        Spec.from_json(text)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 8 * len(text)


def test_escapes_are_another_way_to_write_the_same_spec() -> None:
    for plain, escaped in (('"tea"', '"\\u0074ea"'), ('"epsilon"', '"\\u0065psilon"'), ('"1"', '"\\u0031"')):
        text = SPEC.to_json().replace(plain, escaped)
        assert text != SPEC.to_json()
        assert Spec.from_json(text).digest == SPEC.digest


def test_a_copied_or_pickled_spec_is_the_same_spec() -> None:
    for again in (copy.copy(SPEC), copy.deepcopy(SPEC), pickle.loads(pickle.dumps(SPEC)), replace(SPEC)):  # noqa: S301
        assert again == SPEC
        assert again.digest == SPEC.digest
    changed = replace(SPEC, epsilon=Fraction(2))
    assert changed.digest != SPEC.digest
    assert changed.coin != SPEC.coin


@given(st.recursive(st.none() | st.booleans() | st.integers() | st.floats() | st.text(), st.lists, max_leaves=8))
def test_no_json_value_in_a_field_raises_anything_but_a_parameter_error(value: Any) -> None:
    for name in ("epsilon", "categories", "derived", "version", "format", "protocol"):
        text = changed(**{name: value})
        with suppress(ParameterError):
            read = Spec.from_json(text)
            assert read == SPEC or name in ("epsilon", "categories")


PROTOCOLS: list[Spec] = [
    OneBitHadamard(epsilon=Fraction(1, 2), categories=5),
    ProjectiveGeometry.best(epsilon=1, categories=9),
    HybridGeometry.best(epsilon=5, categories=3_300_000),
    HashedGeometry.best(epsilon=1, people=100_000, keys="text:24", seed=7),
    DuchiBit(epsilon=Fraction(1), bounds=(0, 10)),
    HybridMean(epsilon=Fraction(2), bounds=(-1, 1)),
    UnitVectors(epsilon=Fraction(4), dimension=8),
]
HOSTILE_FIELDS: list[Any] = [
    None,
    True,
    -1,
    1 << 52,
    1.5,
    "",
    "1/0",
    "1e999999999",
    "x" * 10_000,
    "9" * 10_000,
    [],
    [[1]],
    ["a", "a"],
    {},
]


@pytest.mark.parametrize("spec", PROTOCOLS, ids=lambda spec: spec.protocol)
def test_every_protocol_is_read_back_and_refuses_hostile_fields(spec: Spec) -> None:
    read = json.loads(spec.to_json())
    assert Spec.from_json(spec.to_json()) == spec
    for name in read:
        for value in HOSTILE_FIELDS:
            with suppress(ParameterError):  # a hostile value may be a good one elsewhere: a seed is any number
                assert json.loads(Spec.from_json(json.dumps({**read, name: value})).to_json())[name] == value
        with pytest.raises(ParameterError):
            Spec.from_json(json.dumps({key: value for key, value in read.items() if key != name}))


@given(st.text(max_size=60))
def test_no_text_raises_anything_but_a_parameter_error(text: str) -> None:
    with pytest.raises(ParameterError):
        Spec.from_json(text)


def test_names_of_categories_are_two_texts_or_more_all_different() -> None:
    assert DirectResponse(epsilon=1, categories=["no", "yes"]).labels == ("no", "yes")
    for labels in ("no", ["no"], ["no", "no"], ["no", ""], ["no", 3], {"no", "yes"}):
        with pytest.raises(ParameterError, match="categories must be"):
            DirectResponse(epsilon=1, categories=labels)


@pytest.mark.parametrize(("first", "number"), [(0x4E00, 4096), (0x20000, 2048)])
def test_the_longest_labels_that_are_taken_are_read_back_and_longer_ones_refused(first: int, number: int) -> None:
    labels = tuple(chr(first + place) * 1024 for place in range(number))
    with pytest.raises(ParameterError, match="2\\^22"):
        DirectResponse(epsilon=1, categories=(*labels, "more"))
    spec = DirectResponse(epsilon=1, categories=labels)
    assert Spec.from_json(spec.to_json()) == spec


def test_the_repr_is_short_however_many_labels_there_are() -> None:
    spec = DirectResponse(epsilon=1, categories=tuple(map(str, range(4096))))
    assert len(repr(spec)) < 100


@pytest.mark.parametrize("values", [None, True, 1, 0, -3, 2.0, "4", (1 << 40) + 1, float("nan")])
def test_a_domain_is_a_stated_whole_number(values: Any) -> None:
    with pytest.raises(ParameterError):
        DirectResponse(epsilon=1, categories=values)


def test_epsilon_is_never_defaulted_and_taken_as_it_is_written() -> None:
    with pytest.raises(MissingParameter):
        DirectResponse(epsilon=None, categories=2)
    assert DirectResponse(epsilon=0.1, categories=2).epsilon == Fraction(1, 10)


def test_a_second_protocol_of_the_same_name_is_refused() -> None:
    with pytest.raises(ParameterError, match="already the name"):

        class Other(DirectResponse):
            protocol = "randomized-response"

    assert type(Spec.from_json(SPEC.to_json())) is DirectResponse


@pytest.mark.parametrize(("values", "bits", "width"), [(2, 1, 1), (256, 8, 1), (257, 9, 2), (1 << 24, 24, 3)])
def test_reports_are_as_small_as_the_number_of_outputs_allows(values: int, bits: int, width: int) -> None:
    spec = DirectResponse(epsilon=1, categories=values)
    assert (spec.report_bits, spec.report_bytes) == (bits, width)


KINDS = [
    DirectResponse,
    DuchiBit,
    HashedGeometry,
    HeavyHitters,
    HybridGeometry,
    HybridMean,
    OneBitHadamard,
    ProjectiveGeometry,
    UnitVectors,
]


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
def test_what_is_required_and_left_out_is_named_whatever_the_protocol(kind: Any) -> None:
    with pytest.raises(MissingParameter, match="epsilon="):
        kind()
    needed = {field.name for field in fields(kind) if field.default is MISSING and field.default_factory is MISSING}
    with pytest.raises(MissingParameter, match="epsilon= is the price of a report and is never defaulted") as caught:
        kind(**dict.fromkeys(needed - {"epsilon"}, 2))
    assert caught.value.parameter == "epsilon"
    rest = needed - {"epsilon"}
    if rest:
        with pytest.raises(MissingParameter) as caught:
            kind(epsilon=1)
        assert all(f"{name}=" in str(caught.value) for name in rest)
        assert caught.value.parameter in rest


def test_the_repr_is_short_whatever_the_parameters() -> None:
    numbered = DirectResponse(epsilon=1, categories=3)
    assert repr(numbered) == "DirectResponse(epsilon=1, categories=3)"
    assert repr(replace(numbered, epsilon=0.5)) == "DirectResponse(epsilon=Fraction(1, 2), categories=3)"
    planned = repr(HeavyHitters.plan(people=100_000, epsilon=2, keys="text:32", seed=3))
    assert len(planned) < 200
    assert "..., " in planned


def test_where_something_chooses_the_parameters_the_error_names_it() -> None:
    with pytest.raises(MissingParameter, match=r"and rows=, by keyword; HashedGeometry\.best\(\) chooses"):
        HashedGeometry(epsilon=1)


def test_parameters_by_position_are_asked_for_by_keyword() -> None:
    with pytest.raises(MissingParameter, match="DirectResponse needs epsilon= and categories=, by keyword"):
        DirectResponse(1, 3)


def test_an_aggregate_is_read_by_its_spec_whatever_its_kind() -> None:
    for spec in (SPEC, UnitVectors(epsilon=Fraction(2), dimension=4)):
        aggregator = spec.aggregator().add([0, 1, -1])
        read = spec.aggregator_from(aggregator.to_bytes())
        assert read == aggregator
        assert type(read) is type(aggregator)
        with pytest.raises(InputError):
            spec.aggregator_from(b"")


@pytest.mark.parametrize("number", [np.timedelta64(3), np.timedelta64(3, "D")], ids=repr)
def test_a_span_of_time_is_no_number_of_categories(number: Any) -> None:
    with pytest.raises(ParameterError, match="an int from 2"):
        DirectResponse(epsilon=1, categories=number)


def test_completion_shows_the_public_names_only() -> None:
    assert [name for name in dir(local) if not name.startswith("__")] == sorted(local.__all__)
    assert all(hasattr(local, name) for name in dir(local))
