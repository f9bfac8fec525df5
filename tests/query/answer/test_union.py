"""UNION of answers: several releases in one statement, each charged an equal part, with the intervals of their own."""

# ruff: noqa: S608 - the statements are what is being tested
from __future__ import annotations

from fractions import Fraction

import pandas as pd
import pytest

from discreet.errors import BudgetExceeded, LedgerMismatch, ParameterError, QueryRefused
from discreet.privacy import ZCDP, ApproxDP, GaussianDP, PureDP
from discreet.query import Rounding, Session

WHOLE = "SELECT 'all' AS what, COUNT(*) AS n FROM t"
GROUPS = "SELECT region, COUNT(*) FROM t GROUP BY region"
NAMED = "WITH c AS (@)".replace("@", GROUPS)
SUM = "SELECT 'cost', SUM(cost) / 2 FROM t"
BOTH = f"{WHOLE} UNION ALL {GROUPS}"


def opened(budget):
    frame = pd.DataFrame({"region": ["north", "south", "west"] * 100, "cost": [10.0, 20.0, 30.0] * 100})
    columns = {"region": {"values": ["north", "south", "west"]}, "cost": {"min": 0, "max": 40}}
    return Session.from_frames(t=frame, unit="row", budget=budget, columns=columns)


@pytest.mark.parametrize(
    ("budget", "price"),
    [
        (PureDP(3), {"epsilon": 1}),
        (ApproxDP(3, 1e-6), {"share": 0.1}),
        (ZCDP(1), {"rho": Fraction(1, 10)}),
        (ZCDP(1, 1e-6), {"epsilon": 1, "delta": 1e-6}),
        (GaussianDP(1), {"mu": 0.5}),
    ],
)
def test_every_select_is_charged_an_equal_part_and_all_of_them_no_more_than_the_price(budget, price):
    with opened(budget) as session:
        told = session.explain(BOTH, **price)
        answer = session.sql(BOTH, **price)
        spent, charges = session.ledger.balance().spent, session.ledger.balance().charges
        alone = session.explain(WHOLE, **price).guarantee
    assert charges == 2
    assert len({str(one.guarantee) for one in answer.parts}) == 1
    assert answer.guarantee == told.guarantee
    assert "divided evenly: each of the 2 SELECTs" in str(told)
    word = {"PureDP": "epsilon", "ApproxDP": "epsilon", "ZCDP": "rho", "GaussianDP": "mu"}[type(alone).__name__]
    assert 0 < getattr(answer.guarantee, word) <= getattr(alone, word) * (1 + 1e-9)
    assert getattr(spent, word) <= getattr(alone, word) * (1 + 1e-9)


def test_rows_come_with_the_intervals_of_their_own_answers():
    with opened(PureDP(30)) as session:
        answer = session.sql(f"{BOTH} UNION ALL {SUM} ORDER BY n DESC LIMIT 4 OFFSET 1", epsilon=9)
        other = session.sql(f"{BOTH} UNION ALL {SUM}", epsilon=9)
    assert answer.columns == ("what", "n")
    assert (answer.measured, answer.derived) == ((), ("n",))
    assert answer.rows == sorted(other.rows, key=lambda row: -row[1])[1:5]
    ends = {row[0]: (one.low, one.high) for row, one in zip(answer.rows, answer.estimates("n"), strict=True)}
    own = {"all": answer.parts[0].estimates("n")[0], "cost": answer.parts[2].estimates("column2")[0]}
    own |= dict(zip(answer.parts[1]["region"], answer.parts[1].estimates("count"), strict=True))
    assert all((own[name].low, own[name].high) == pair for name, pair in ends.items())
    assert all(one.record.replayed for one in other.parts)
    wider = other.intervals(together=True)
    assert all(two[2] <= one[2] for one, two in zip(other.intervals().rows, wider.rows, strict=True))
    assert wider.rows[-1][2] < other.intervals().rows[-1][2]


def test_the_other_forms_of_an_answer_have_all_parts():
    with opened(PureDP(30)) as session:
        answer = session.sql(BOTH, epsilon=2)
        made_up = session.rehearse(BOTH, epsilon=2, size=50)
        fields = answer.certificate().fields
    assert answer.measured == ("n",)
    assert len(answer.measurements) == 2
    assert len({one.identity for one in answer.measurements}) == 2
    assert all(one.rehearsed for one in made_up.measurements)
    assert list(answer.to_dict()) == ["what", "n", "n_low", "n_high"] == list(answer.to_pandas().columns)
    assert "<svg" in answer.plot().svg()
    assert str(answer).count("record:") == 2
    assert (fields["digest"].count(","), len(fields["mechanisms"])) == (1, 2)
    assert fields["guarantee"].startswith("epsilon 2")
    with pytest.raises(ParameterError, match="each of `parts`"):
        answer.bias("n")


def test_union_leaves_out_repetitions_after_the_noise_and_with_is_read_by_all():
    with opened(PureDP(30)) as session:
        twice = session.sql(f"{GROUPS} UNION {GROUPS}", epsilon=2)
        named = session.sql(f"{NAMED} SELECT * FROM c UNION ALL SELECT region, 2 * count FROM c", epsilon=2)
        whole = session.sql(BOTH, epsilon=2, rounding=Rounding.INTEGER)
    assert len(twice) == 3  # the same release, so the same rows
    assert [2 * n for _, n in named.rows[:3]] == [n for _, n in named.rows[3:]]
    assert all(isinstance(n, int) for n in whole["n"])


def test_what_does_not_fit_together_is_refused_before_anything_is_charged():
    with opened(PureDP(1)) as session:
        for sql in (
            " UNION ALL ".join([WHOLE, "SELECT region FROM t"]),
            " UNION ALL ".join([WHOLE, "SELECT COUNT(*) FROM t"]),
            " UNION ALL ".join([WHOLE, "SELECT COUNT(*), 'x' FROM t"]),
            f"{WHOLE} UNION {GROUPS} UNION ALL {GROUPS}",
            f"{WHOLE} UNION ALL BY NAME {GROUPS}",
            f"{WHOLE} INTERSECT {GROUPS}",
            f"{WHOLE} EXCEPT {GROUPS}",
            f"{NAMED} {WHOLE} UNION ALL {GROUPS}",
            f"{WHOLE} UNION ALL {GROUPS} ORDER BY cost",
            "SELECT SUM(n) FROM (@)".replace("@", BOTH),
            " UNION ALL ".join([WHOLE, "SELECT region, MIN(cost) FROM t GROUP BY region"]),
        ):
            with pytest.raises(QueryRefused, match=r"Nothing was spent\.$"):
                session.sql(sql, epsilon=0.5)
        with pytest.raises(QueryRefused, match="UNION"):
            session.top(f"{GROUPS} UNION ALL {GROUPS}", k=1, epsilon=0.5)
        with pytest.raises(BudgetExceeded, match="2 SELECTs of this UNION"):
            session.sql(BOTH, epsilon=1.5)
        assert session.ledger.balance().charges == 0
        assert len(session.sql(BOTH, epsilon=1)) == len(session.sql(BOTH, epsilon=1)) == 4
        assert session.ledger.balance().charges == 2


def test_a_name_for_a_retry_names_every_part():
    with opened(PureDP(3)) as session:
        one = session.sql(BOTH, epsilon=1, idempotency="monday")
        two = session.sql(BOTH, epsilon=1, idempotency="monday")
    assert one.rows == two.rows
    assert session.ledger.balance().charges == 2


def test_a_name_for_a_retry_belongs_to_one_request_whether_it_has_parts_or_not():
    with opened(PureDP(3)) as session:
        session.sql("SELECT COUNT(*) AS n FROM t WHERE cost > 10", epsilon=1, idempotency="monday")
        spent = session.balance.charges
        for name, error in (("monday", LedgerMismatch), (5, ParameterError), ("", ParameterError)):
            with pytest.raises(error, match="Nothing was spent"):
                session.sql(BOTH, epsilon=1, idempotency=name)
        assert session.balance.charges == spent
        session.sql(BOTH, epsilon=1, idempotency="tuesday")
        with pytest.raises(LedgerMismatch):
            session.sql("SELECT COUNT(*) AS n FROM t WHERE cost > 20", epsilon=1, idempotency="tuesday")
