"""The attacks that take tables read pandas, Polars and Arrow, texts included, and refuse all else in one clear way."""

from __future__ import annotations

import datetime
from typing import Any

import numpy as np
import pandas
import polars
import pyarrow
import pytest

from discreet.attacks import AttackedRelease, Scoreboard, homogeneity, identify, intersection, link, mondrian, uniques
from discreet.data import ratings
from discreet.errors import DiscreetError, InputError, ParameterError

PLAIN: dict[str, Any] = {
    "zip": ["a", "b", "b", "c"] * 3,
    "sex": ["f", "m", "f", "m"] * 3,
    "day": [datetime.date(2020, 1, 1 + place) for place in range(12)],
    "number": list(range(12)),
    "well": [True, False] * 6,
}
NAMES = list(PLAIN)


def frames() -> dict[str, Any]:
    frame = pandas.DataFrame(PLAIN)
    days = pandas.to_datetime(frame["day"])
    texts = pyarrow.array(PLAIN["zip"])
    return {
        "lists": PLAIN,
        "objects": {name: np.array(column, dtype=object) for name, column in PLAIN.items()},
        "pandas": frame,
        "pandas object": frame.astype({"zip": object}),
        "pandas category": frame.astype({"zip": "category", "sex": "category"}),
        "pandas string": frame.astype({"zip": "string", "number": "Int64", "well": "boolean"}),
        "pandas times": frame.assign(day=days),
        "pandas zone": frame.assign(day=days.dt.tz_localize("UTC")),
        "columns of pandas": dict(frame),
        "polars": polars.DataFrame(PLAIN),
        "polars category": polars.DataFrame(PLAIN).with_columns(polars.col("zip").cast(polars.Categorical)),
        "arrow": pyarrow.table(PLAIN),
        "arrow dictionary": pyarrow.table({**PLAIN, "zip": texts.dictionary_encode()}),
        "arrow batch": pyarrow.RecordBatch.from_pydict(PLAIN),
    }


FRAMES = frames()


@pytest.mark.parametrize("kind", FRAMES)
def test_every_table_gives_what_lists_give(kind):
    table = FRAMES[kind]
    assert uniques(table, NAMES).frequencies.tolist() == uniques(PLAIN, NAMES).frequencies.tolist()
    found = link(table, PLAIN, on=["zip", "day"], truth=np.arange(12))
    assert found.right == 12
    assert link(PLAIN, table, on=NAMES).claims.tolist() == list(range(12))
    boxes, plain = (mondrian(one, k=3, columns=["zip", "day", "well"]) for one in (table, PLAIN))
    assert boxes.group.tolist() == plain.group.tolist()
    release = AttackedRelease(boxes, table["zip"], table["number"])
    expected = homogeneity(AttackedRelease(plain, PLAIN["zip"], range(12)))
    assert homogeneity(release).candidates.tolist() == expected.candidates.tolist()
    assert intersection(release, release).frequency == homogeneity(release).frequency


@pytest.mark.parametrize("convert", ["to_pandas", "to_polars", "to_arrow"])
def test_ratings_may_come_as_a_frame(convert):
    table = ratings(people=200, items=100, seed=1)
    frame = getattr(table, convert)()
    remarks = table.item[:4], table.stars[:4], table.day[:4]
    assert Scoreboard(frame).best(*remarks) == Scoreboard(table).best(*remarks)
    asked = {"known": (2, 4), "targets": 5, "threshold": 1, "seed": 2}
    assert identify(frame, **asked).rows == identify(table, **asked).rows


NO_TABLES = [
    [1],
    None,
    5,
    "zip",
    np.zeros(3),
    pandas.Series(["a"]),
    polars.Series(["a"]),
    pyarrow.array(["a"]),
    polars.DataFrame(PLAIN).lazy(),
]


@pytest.mark.parametrize("given", NO_TABLES, ids=lambda given: type(given).__name__)
def test_what_is_no_table_is_refused_in_words(given):
    for attack in (
        lambda: uniques(given, ["zip"]),
        lambda: link(given, PLAIN, on=["zip"]),
        lambda: link(PLAIN, given, on=["zip"]),
        lambda: Scoreboard(given),
        lambda: identify(given, seed=1),
    ):
        with pytest.raises(InputError, match=r"a table is one of|frame\.collect\(\)"):
            attack()
    with pytest.raises(DiscreetError):
        mondrian(given, k=2, columns=["zip"])


@pytest.mark.parametrize("names", [None, 5, [1], [], ["zip", "zip"]])
def test_columns_are_named_by_their_texts(names):
    with pytest.raises(ParameterError, match="name at least one column"):
        link(PLAIN, PLAIN, on=names)


@pytest.mark.parametrize(
    ("column", "words"),
    [
        (["a", None], "missing values"),
        (pandas.Series(["a", None]), "missing values"),
        (polars.Series(["a", None]), "missing values"),
        (pyarrow.array(["a", None]), "missing values"),
        (["a", 1], "all of one kind"),
        (np.array(["a", 1], dtype=object), "all of one kind"),
        (polars.Series([[1], [2]]), "all of one kind"),
    ],
)
def test_a_column_that_cannot_be_compared_is_refused_by_name(column, words):
    with pytest.raises(InputError, match=f"'zip'.*{words}"):
        uniques({"zip": column}, ["zip"])


def test_an_unknown_column_of_a_frame_names_those_there_are():
    with pytest.raises(ParameterError, match="no column 'zap'; the columns are zip, sex"):
        uniques(pandas.DataFrame(PLAIN), ["zap"])


@pytest.mark.parametrize("given", [5, None, PLAIN])
def test_homogeneity_takes_releases(given):
    with pytest.raises(ParameterError, match="a release is AttackedRelease"):
        homogeneity(given)
    with pytest.raises(ParameterError, match="mondrian"):
        AttackedRelease(given, [1], [1])
