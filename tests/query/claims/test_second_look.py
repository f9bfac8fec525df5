"""What a second look at the answers to the first attacks found: each test is a claim that was tried."""

from __future__ import annotations

from fractions import Fraction

import pandas as pd
import pyarrow as pa
import pytest
from pyarrow import parquet

from discreet.display import LastDigit
from discreet.errors import DiscreetError, PolicyError, QueryFailed
from discreet.privacy import ApproxDP, PureDP
from discreet.privacy.guarantees.wording import in_words
from discreet.query import Session
from discreet.query.pricing.price import read_price

POLICY = """[data]
source = "data"
lineage = "people"
version = "1"
[protect]
unit = "person"
[budget]
notion = "pure"
epsilon = 100
ledger = "ledger.sqlite"
[analysts]
ana = {}
"""
TABLE = '[tables.t]\nunit = "uid"\nrows = 1\ncolumns.uid = {type = "text"}\n'


def session(**options):
    frame = pd.DataFrame({"uid": range(100), "k": pd.Series(["a", "b"] * 50, dtype="string"), "x": range(100)})
    stated_options = {"unit": "uid", "budget": PureDP(10), "rows": 1, "groups": 1, "rows_per_group": 1}
    columns = {"x": {"min": 0, "max": 100}}
    return Session.from_frames(t=frame, columns=columns, **{**stated_options, **options})


def opened(folder, policy, files):
    (folder / "data").mkdir(parents=True)
    for name, content in files.items():
        place = folder / "data" / name
        place.write_bytes(content) if isinstance(content, bytes) else parquet.write_table(content, place)
    (folder / "policy.toml").write_text(POLICY + policy)
    return Session.open(folder / "policy.toml", analyst="ana")


def granted(asked, price):
    with asked.grant("t", ["x"], price):
        pass


# tried: one level is released as three integers, and so are three levels: a bundle of three and one of one had the
# digest of a bundle of one and one of three, and the answer to the first was read as the answer to the second
@pytest.mark.parametrize(
    ("first", "second"), [("pppq", "pqqq"), ("pq", "pp"), ("pqqq", "pppp"), ("ppq", "pqq"), ("pqr", "ppp")]
)
def test_quantiles_that_are_released_in_other_bundles_are_another_release(first, second):
    def digest(arguments):
        asked = [f"QUANTILE({one}, 0.{place}) AS a{place}" for place, one in enumerate(arguments, 1)]
        sql = f"SELECT {', '.join(asked)} FROM (SELECT x AS p, x AS q, x AS r FROM t) AS s"  # noqa: S608
        return session()._charging.priced(sql, read_price(epsilon=1)).digest

    assert digest(first) != digest(second)


# tried: in a file with lines that end in \r\n, a line with one \r more moved \n into the next line, the id in which
# was then another person's
@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize("odd", ["z,a\r", "\r", "z,a\r\r\r", "\r\r"])
def test_a_carriage_return_too_many_changes_no_other_line(tmp_path, end, odd):
    lines = [f"p{person},a" for person in range(6)]
    content = end.join(["uid,k", *lines[:3], odd, *lines[3:], ""])
    try:
        asked = opened(tmp_path, TABLE, {"t.csv": content.encode()})
    except PolicyError as refused:  # a record that ends with \r alone among others that do not
        assert "cannot be read as it is declared" in str(refused)  # noqa: PT017
        return
    with asked, asked.grant("t", ["k"], PureDP(1)) as rows:
        assert set(rows["unit"]) - {"z"} == {f"p{person}" for person in range(6)}


# tried: over a link the digest knows the link and not the unit that it leads to
def test_an_answer_is_not_handed_out_under_another_unit_of_the_linked_table(tmp_path):
    people = pa.table({"id": [1, 2], "person": ["a", "b"], "household": ["h", "h"]})
    digests = set()
    for unit in ("person", "household"):
        policy = f'[tables.t]\nunit = "who -> people.id"\nrows = 1\n[tables.people]\nunit = "{unit}"\nrows = 1\n'
        files = {"people.parquet": people, "t.parquet": pa.table({"who": [1, 2]})}
        with opened(tmp_path / unit, policy, files) as asked:
            digests.add(asked._charging.priced("SELECT COUNT(*) AS n FROM t", read_price(epsilon=1)).digest)
    assert len(digests) == 2


# tried: prices that are refused by an error of Python's own
@pytest.mark.parametrize(
    ("sql", "price"),
    [
        ("SELECT k, COUNT(*) AS n FROM t GROUP BY k", {"epsilon": 1, "delta": 1e-310}),
        ("SELECT k, COUNT(*) AS n FROM t GROUP BY k", {"share": 1e-310}),
        ("SELECT COUNT(*) AS n FROM t", {"epsilon": Fraction(10**400, 3)}),
    ],
)
def test_prices_beyond_all_floats_are_refused_in_our_words(sql, price):
    asked = session(budget=ApproxDP(2, 0.1))
    with pytest.raises(DiscreetError):
        asked.sql(sql, **price)
    assert asked.balance.spent.epsilon == 0


def test_a_watch_with_a_huge_threshold_can_be_shown():
    assert "Watch" in repr(session().watch(10**400, epsilon=1))


def test_the_columns_of_a_grant_are_names():
    asked = session().grant("t", [1], PureDP(1))
    with pytest.raises(DiscreetError):
        asked.__enter__()


# tried: what is left is written to the nearest float, not rounded down, and what was spent not up
def test_what_is_left_is_rounded_down_and_what_was_spent_up():
    hair = Fraction(1, 10**20)
    assert in_words(PureDP(Fraction(1, 2) - hair), rounding=LastDigit.DOWN) == "epsilon 0.499999"
    assert in_words(PureDP(Fraction(1, 2) + hair)) == "epsilon 0.500001"


# tried: the floats of a grant are not taken as they are written, as those of a query and of the budget are
def test_ten_grants_of_a_tenth_fit_into_one():
    asked = session(budget=PureDP(1))
    for _ in range(10):
        granted(asked, PureDP(0.1))
    assert asked.balance.spent.epsilon == 1


# tried: an engine that failed is still asked for rows
def test_an_engine_that_failed_is_not_asked_for_rows():
    asked = session()
    asked._charging._failed = True
    with pytest.raises(DiscreetError):
        granted(asked, PureDP(1))
    assert asked.balance.spent.epsilon == 0


# tried: a column of pandas' usual times with a zone closes a whole frame, also to questions about other columns
def test_times_with_a_zone_in_nanoseconds_do_not_close_a_frame():
    times = pd.to_datetime(["2026-01-01"] * 4, utc=True).astype("datetime64[ns, UTC]")
    frame = pd.DataFrame({"uid": range(4), "at": times})
    with Session.from_frames(t=frame, unit="uid", rows=1, budget=PureDP(1)) as asked:
        assert asked.tables()["t"]["at"] == "timestamp"


# tried: where no bounded table could be made, queries do not "read the table itself": they are all refused
def test_after_a_bounded_table_that_failed_the_session_does_what_it_said(monkeypatch):
    asked = session()

    def fails(*_):
        raise ValueError

    monkeypatch.setattr(asked.engine, "bound", fails)
    with pytest.raises(QueryFailed) as caught:
        asked.bound("t")
    try:
        asked.sql("SELECT COUNT(*) AS n FROM t", epsilon=1)
        answered = True
    except DiscreetError:
        answered = False
    assert answered == ("queries read the table itself" in str(caught.value))


# tried: with a price for each aggregate, one whose bounds alone keep the error closes the query to the others
def test_an_error_that_one_aggregate_keeps_anyway_can_be_bought_for_the_others():
    asked = session()
    alone = asked.explain("SELECT COUNT(*) AS n FROM t", error=150).fits
    assert 0 < asked.explain("SELECT COUNT(*) AS n, AVG(x) AS a FROM t", error=150, rows_expected=100).fits <= alone
