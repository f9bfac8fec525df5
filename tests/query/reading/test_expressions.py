"""Every expression of SQL means what the reference says: computed by the oracle on one row."""

from __future__ import annotations

from datetime import date, datetime

import pytest

from discreet.query.expression.expression import Operation
from discreet.query.reading.query import read_query
from tests.query import oracle
from tests.query.sample_policy import POLICY

ROW = {
    "patient": 7,
    "region": "north",
    "ward": " Ab c ",
    "Age": 47,
    "days": 6,
    "cost": 12.5,
    "fee": None,
    "score": -9,
    "emergency": True,
    "day": date(2023, 5, 17),
    "born": date(1976, 2, 29),
    "arrived": datetime(2023, 5, 17, 13, 45, 10),
    "code": None,
}


def argument(expression):
    """Read an expression as the argument of a count."""
    (asked,) = read_query("SELECT COUNT(@) FROM visits".replace("@", expression), POLICY).aggregation.asked
    return asked.argument


MEANINGS = [
    ("age + days - 3", 50),
    ("age * 2", 94),
    ("age / 2", 23.5),
    ("score // 4", -3),
    ("score DIV 4", -3),
    ("score % 4", 3),
    ("MOD(score, 4)", 3),
    ("age / 0", None),
    ("-age", -47),
    ("- (age)", -47),
    ("+age", 47),
    ("age & 15", 15),
    ("age | 16", 63),
    ("XOR(age, 1)", 46),
    ("~days", -7),
    ("days << 2", 24),
    ("age >> 1", 23),
    ("BIT_COUNT(age)", 5),
    ("days ^ 2", 36.0),
    ("days ** 2", 36.0),
    ("POW(days, 2)", 36.0),
    ("POWER(days, 2)", 36.0),
    ("CLAMP(age, 0, 40)", 40),
    ("CLAMP(cost, -1.5, 40)", 12.5),
    ("BIN(age, 10)", 40),
    ("BIN(score, 10)", -10),
    ("BIN(cost, 5)", 10),
    ("BIN(cost, 0.5)", 12.5),
    ("ABS(score)", 9),
    ("SIGN(score)", -1),
    ("FLOOR(cost)", 12),
    ("CEIL(cost)", 13),
    ("CEILING(cost)", 13),
    ("ROUND(cost)", 13),
    ("ROUND(cost, 1)", 12.5),
    ("SQRT(days + 3)", 3.0),
    ("LN(days - 5)", 0.0),
    ("LN(score)", None),
    ("LOG10(days + 94)", 2.0),
    ("LOG(days + 94)", 2.0),
    ("EXP(days - 6)", 1.0),
    ("GREATEST(age, days, 50)", 50),
    ("LEAST(age, days)", 6),
    ("age = 47", True),
    ("age == 47", True),
    ("age <> 47", False),
    ("age != 47", False),
    ("age < 47.5", True),
    ("age <= 46", False),
    ("age > 46 AND NOT emergency", False),
    ("age > 100 OR emergency", True),
    ("age BETWEEN 40 AND 50", True),
    ("age NOT BETWEEN 40 AND 50", False),
    ("age IN (1, 47)", True),
    ("age NOT IN (1, 47)", False),
    ("region IN ('north', 'south')", True),
    ("fee IN (1)", None),
    ("fee IS NULL", True),
    ("fee IS NOT NULL", False),
    ("fee ISNULL", True),
    ("emergency IS TRUE", True),
    ("emergency IS NOT TRUE", False),
    ("(fee > 1) IS FALSE", False),
    ("fee IS DISTINCT FROM 3", True),
    ("fee IS NOT DISTINCT FROM fee", True),
    ("age IS NOT DISTINCT FROM 47", True),
    ("region LIKE 'n%'", True),
    ("region LIKE '_orth'", True),
    ("region NOT LIKE 'n%'", False),
    ("region ILIKE 'N%H'", True),
    ("region NOT ILIKE '%O_T%'", False),
    ("CASE WHEN age < 18 THEN 'child' WHEN age < 65 THEN 'adult' ELSE 'old' END", "adult"),
    ("CASE region WHEN 'south' THEN 1 WHEN 'north' THEN 2 END", 2),
    ("CASE WHEN fee > 1 THEN 1 END", None),
    ("IF(age > 40, 'a', 'b')", "a"),
    ("IIF(age > 50, 'a', 'b')", "b"),
    ("COALESCE(fee, cost, 1)", 12.5),
    ("IFNULL(fee, 3)", 3.0),
    ("fee ?? 4", 4.0),
    ("NULLIF(days, 6)", None),
    ("CAST(cost AS INTEGER)", 12),
    ("age::DOUBLE", 47.0),
    ("age::FLOAT / 2", 23.5),
    ("TRY_CAST(region AS BIGINT)", None),
    ("CAST(age AS VARCHAR)", "47"),
    ("CAST(emergency AS INT)", 1),
    ("CAST(arrived AS DATE)", date(2023, 5, 17)),
    ("DATE(arrived)", date(2023, 5, 17)),
    ("LOWER(ward)", " ab c "),
    ("UPPER(region)", "NORTH"),
    ("TRIM(ward)", "Ab c"),
    ("LENGTH(region)", 5),
    ("LEN(region)", 5),
    ("SUBSTRING(region, 2, 3)", "ort"),
    ("SUBSTR(region, 2)", "orth"),
    ("SUBSTRING(region FROM 2 FOR 1)", "o"),
    ("LEFT(region, 2)", "no"),
    ("region || '!'", "north!"),
    ("code || '!'", None),
    ("CONCAT(code, region, '!')", "north!"),
    ("CONCAT(age, '/', emergency, fee IS NULL, day)", "47/truetrue2023-05-17"),
    ("SUBSTR(region, 2, 1)", "o"),
    ("SUBSTRING(region FROM 2)", "orth"),
    ("WIDTH_BUCKET(cost, 0, 50, 5)", 2),
    ("WIDTH_BUCKET(age, 50, 60, 2)", 0),
    ("WIDTH_BUCKET(age, 7, 47, 4)", 5),
    ("WIDTH_BUCKET(fee, 0.5, 1.5, 4)", None),
    ("YEAR(day)", 2023),
    ("EXTRACT(YEAR FROM day)", 2023),
    ("DATE_PART('month', day)", 5),
    ("QUARTER(day)", 2),
    ("MONTH(arrived)", 5),
    ("DAY(day)", 17),
    ("ISODOW(day)", 3),
    ("DAYOFWEEK(day)", 3),
    ("EXTRACT(DOW FROM DATE '2023-05-21')", 0),
    ("DATE_PART('dow', arrived)", 3),
    ("EXTRACT(ISODOW FROM DATE '2023-05-21')", 7),
    ("DAYOFYEAR(day)", 137),
    ("EXTRACT(DOY FROM arrived)", 137),
    ("WEEK(day)", 20),
    ("WEEKOFYEAR(DATE '2021-01-03')", 53),
    ("EXTRACT(WEEK FROM DATE '2024-12-30')", 1),
    ("DAYNAME(day)", "Wednesday"),
    ("MONTHNAME(arrived)", "May"),
    ("STRFTIME(day, '%Y-%m')", "2023-05"),
    ("STRFTIME('%d.%m.%y', day)", "17.05.23"),
    ("STRFTIME(arrived, '%Y-%m-%d %H:%M')", "2023-05-17 13:45"),
    ("STRFTIME(arrived, '%Hh')", "13h"),
    ("STRFTIME(day, '%a %b %-d, %A %B, %j %u %w %% %-m')", "Wed May 17, Wednesday May, 137 3 3 % 5"),
    ("STRFTIME(born, '%Y%m%d')", "19760229"),
    ("HOUR(arrived)", 13),
    ("EXTRACT(minute FROM arrived)", 45),
    ("DATE_TRUNC('month', day)", date(2023, 5, 1)),
    ("DATE_TRUNC('hour', arrived)", datetime(2023, 5, 17, 13)),
    ("DATE_TRUNC('WEEK', day)", date(2023, 5, 15)),
    ("day + INTERVAL 3 DAY", date(2023, 5, 20)),
    ("day + INTERVAL '3' DAY", date(2023, 5, 20)),
    ("day - INTERVAL '3 days'", date(2023, 5, 14)),
    ("day + INTERVAL 1 WEEK", date(2023, 5, 24)),
    ("day + INTERVAL (days) DAY", date(2023, 5, 23)),
    ("day - INTERVAL (days) WEEK", date(2023, 4, 5)),
    ("day + INTERVAL 1 MONTH", date(2023, 6, 17)),
    ("born + INTERVAL '1' YEAR", date(1977, 2, 28)),
    ("born - INTERVAL 2 QUARTERS", date(1975, 8, 29)),
    ("day - INTERVAL (days) MONTH", date(2022, 11, 17)),
    ("arrived + INTERVAL '2 years'", datetime(2025, 5, 17, 13, 45, 10)),
    ("INTERVAL '1' DAY + day", date(2023, 5, 18)),
    ("INTERVAL 1 DAY + day + 1", date(2023, 5, 19)),
    ("day + INTERVAL 1 YEAR 2 MONTH", date(2024, 7, 17)),
    ("day - (INTERVAL 1 YEAR - INTERVAL 2 DAY)", date(2022, 5, 19)),
    ("day + 3 * INTERVAL '1' DAY", date(2023, 5, 20)),
    ("day + INTERVAL 1 MONTH * days", date(2023, 11, 17)),
    ("DATE_ADD(day, INTERVAL 1 MONTH)", date(2023, 6, 17)),
    ("born + INTERVAL (100000) YEAR", None),
    ("IF(age > 1, DATE '1998-12-01' - INTERVAL '90' DAY, NULL)", date(1998, 9, 2)),
    ("IF(age > 1, DATE '1994-01-01' + INTERVAL '1' YEAR, NULL)", date(1995, 1, 1)),
    ("IF(age > 1, DATE '2024-01-31' + INTERVAL 1 MONTH, NULL)", date(2024, 2, 29)),
    ("IF(age > 1, TIMESTAMP '2024-03-31 10:00:00' - INTERVAL '1 month', NULL)", datetime(2024, 2, 29, 10)),
    ("day + 3", date(2023, 5, 20)),
    ("day - days", date(2023, 5, 11)),
    ("DATE_ADD(day, INTERVAL 1 DAY)", date(2023, 5, 18)),
    ("arrived + INTERVAL 1 DAY", datetime(2023, 5, 18, 13, 45, 10)),
    ("day - DATE '2023-05-01'", 16),
    ("DATEDIFF('day', DATE '2023-05-01', day)", 16),
    ("DATE_DIFF('day', day, arrived)", 0),
    ("DATEDIFF('month', born, day)", 567),
    ("DATEDIFF('months', day, '2023-01-31')", -4),
    ("DATEDIFF('quarter', DATE '2023-03-31', day)", 1),
    ("DATEDIFF('year', born, arrived)", 47),
    ("day >= '2023-05-17'", True),
    ("day < DATE '2023-05-17'", False),
    ("day < TIMESTAMP '2023-05-17 01:00:00'", True),
    ("arrived >= '2023-05-17 13:45:10'", True),
    ("day BETWEEN '2023-05-01' AND '2023-05-31'", True),
    ("day IN (DATE '2023-05-17')", True),
    ('"AGE" + "Days"', 53),
    ("visits.age", 47),
    ("VISITS.AGE", 47),
    ("age > -9223372036854775807", True),
    ("cost > 1e300", False),
    ("cost > .5", True),
    ("((((age))))", 47),
]


@pytest.mark.parametrize(("text", "value"), MEANINGS, ids=[text for text, _ in MEANINGS])
def test_an_expression_means_what_the_reference_says(text, value):
    found = oracle.evaluate(argument(text), ROW)
    assert found == value
    assert type(found) is type(value)


def test_every_operation_can_be_written():
    written = set()

    def collect(expression):
        if hasattr(expression, "operation"):
            written.add(expression.operation)
        for part in expression.parts:
            collect(part)

    for text, _ in MEANINGS:
        collect(argument(text))
    for unit in ("year", "quarter", "day"):
        collect(argument(f"DATE_TRUNC('{unit}', day)"))
    assert written == set(Operation)
