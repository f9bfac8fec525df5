"""A city that does not exist: a register with names, and a hospital table without them, about overlapping people."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product
from pathlib import Path

import numpy as np

from discreet.data.invented_hospital import DIAGNOSES, SEXES
from discreet.data.table import MOST_PEOPLE, Column, InventedTable, check_whole, drawn, generator, write_duckdb

QUASI_IDENTIFIERS = (
    "zip_code",
    "birth_date",
    "sex",
    "marital_status",
    "children",
    "education",
    "occupation",
    "birthplace",
    "language",
    "housing",
    "vehicle",
    "height",
)
CITY_ZIP_CODES = tuple(f"{50_000 + 113 * place}" for place in range(1, 21))
BIRTH_RANGE = (np.datetime64("1930-01-01"), np.datetime64("2007-12-31"))
MARITAL_STATUSES = ("divorced", "married", "single", "widowed")
EDUCATIONS = ("primary", "secondary", "apprenticeship", "bachelor", "master")
OCCUPATIONS = (
    "care", "clerical", "construction", "crafts", "engineering", "farming", "law", "management", "medicine", "none",
    "retired", "sales", "teaching", "transport",
)  # fmt: skip
BIRTHPLACES = ("the city", "Alder", "Birch", "Cedar", "Elm", "Hazel", "Linden", "Maple", "abroad")
LANGUAGES = ("first", "second", "third", "fourth", "fifth", "sixth")
HOUSINGS = ("family", "owned", "rented", "shared")
VEHICLES = ("none", "bicycle", "motorcycle", "small car", "estate car", "van", "electric car")
HEIGHT_RANGE = (140, 210)
CODES = tuple(tuple(f"{name[:3].upper()}{number:02d}" for number in range(1, 41)) for name in DIAGNOSES)
REGISTERED_SHARE, PATIENT_SHARE, BOTH_SHARE = 0.5, 0.2, 0.1

_NAME_PARTS = (
    "Ar Bel Cor Dan Ev Fen Gil Hes Ir Jo Kel Lor Mir Nel Os Per Ro Sel Tam Ul Ver Wil Yan Zed",
    "a bi co da el fa go hi in ka lo mu",
    "bank berg croft dale fell gate holm land mark mere ridge ster stone thorpe wald wick",
)
# by age: to 29, to 44, to 64, older
_AGES = (30, 45, 65)
_MARITAL = ((1, 15, 84, 0), (9, 55, 35, 1), (19, 63, 14, 4), (14, 54, 6, 26))
_CHILDREN = ((86, 9, 4, 1, 0, 0), (36, 25, 27, 9, 2, 1), (24, 23, 34, 14, 4, 1), (18, 21, 34, 18, 6, 3))
_EDUCATION = ((9, 34, 25, 24, 8), (9, 19, 32, 23, 17), (12, 22, 41, 13, 12), (24, 26, 37, 6, 7))
_OCCUPATION = (  # by education, in the order of OCCUPATIONS
    (10, 2, 18, 14, 0, 5, 0, 0, 0, 22, 0, 14, 0, 15),
    (14, 16, 9, 10, 1, 3, 0, 2, 0, 14, 0, 21, 1, 9),
    (15, 16, 12, 22, 3, 3, 0, 4, 1, 6, 0, 12, 1, 5),
    (6, 14, 1, 2, 20, 1, 4, 14, 6, 5, 0, 9, 17, 1),
    (1, 3, 0, 1, 24, 1, 13, 20, 16, 4, 0, 2, 15, 0),
)
_BIRTHPLACE = ((58, 6, 5, 4, 4, 3, 2, 2, 16),)
_LANGUAGE = ((96, 1, 1, 1, 0.5, 0.5), (6, 32, 25, 17, 12, 8))  # born here, born abroad
_HOUSING = ((34, 6, 34, 26), (3, 37, 54, 6), (1, 58, 39, 2), (6, 60, 33, 1))
_VEHICLE = ((14, 16, 5, 28, 25, 6, 6), (33, 22, 3, 27, 8, 3, 4))  # owners, others
_DIAGNOSIS = (  # by age group, in the order of DIAGNOSES
    (2, 9, 11, 10, 3, 24, 13, 5, 11, 1, 10, 1),
    (2, 10, 8, 8, 8, 17, 13, 8, 12, 3, 9, 2),
    (1, 7, 5, 6, 16, 0, 9, 13, 14, 10, 12, 7),
    (0.4, 2, 2, 4, 16, 0, 4, 13, 13, 20, 13, 12.6),
)


@dataclass(frozen=True, eq=False, repr=False)
class Register(InventedTable):
    """One row a person who is registered in the city, by name: what anybody can buy or look up."""

    name: Column
    zip_code: Column
    birth_date: Column
    sex: Column
    marital_status: Column
    children: Column
    education: Column
    occupation: Column
    birthplace: Column
    language: Column
    housing: Column
    vehicle: Column
    height: Column


@dataclass(frozen=True, eq=False, repr=False)
class Discharges(InventedTable):
    """One row a patient of the city's hospital: no name, the same twelve facts, and the diagnosis with its code."""

    zip_code: Column
    birth_date: Column
    sex: Column
    marital_status: Column
    children: Column
    education: Column
    occupation: Column
    birthplace: Column
    language: Column
    housing: Column
    vehicle: Column
    height: Column
    diagnosis: Column
    code: Column


@dataclass(frozen=True, eq=False)
class City:
    """The two tables, and what only their maker knows: the row of the register that each patient is, or -1."""

    register: Register
    discharges: Discharges
    match: Column

    def __post_init__(self) -> None:
        kept = np.array(self.match)
        kept.flags.writeable = False
        object.__setattr__(self, "match", kept.view())

    def __repr__(self) -> str:
        both = int(np.count_nonzero(self.match >= 0))
        return f"City({len(self.register):,} registered, {len(self.discharges):,} patients, {both:,} both; synthetic)"

    def to_duckdb(self, path: str | Path) -> Path:
        """Write both tables, without the truth, into a new DuckDB file; one that exists is replaced."""
        tables = {"register": self.register, "discharges": self.discharges}
        return write_duckdb(
            path, {name: {one: table.column(one) for one in table.names} for name, table in tables.items()}
        )


def register(*, people: int = 200_000, seed: int) -> City:
    """Return an invented city of `people` adults: half are registered, a fifth are patients, a tenth are both.

    Who is registered and who is a patient is drawn independently of everything else, with exactly these frequencies.
    Zip codes: 20, the r-th with weight 1 / (r + 4). Birth dates: any day from 1930 to 2007, younger years more likely.
    Sex: 50 to 58 % female, rising with age. The others depend on one another: marital status, children, education
    and housing on age, occupation on education and age, language on birthplace, vehicle on housing, height on sex and
    age. The diagnosis depends on age and sex, and is in the hospital's table only; each has 40 codes, the r-th with
    weight 1 / r.

    The draws come from numpy's default generator: fine for invented people, never for noise.

    Cost. About a third of a second for 200 000 people.

    >>> register(people=2000, seed=7)
    City(1,000 registered, 400 patients, 200 both; synthetic)
    >>> register(people=2000, seed=7).discharges.names[:3]
    ('zip_code', 'birth_date', 'sex')
    """
    check_whole("people", people, low=20, high=MOST_PEOPLE)
    random = generator(people, seed)
    facts = _facts(random, people)
    illness = {"diagnosis": _diagnoses(random, facts)}
    illness["code"] = _codes(random, illness["diagnosis"])
    order = random.permutation(people)
    registered, both = round(REGISTERED_SHARE * people), round(BOTH_SHARE * people)
    only_patients = round(PATIENT_SHARE * people) - both
    patients = np.concatenate([order[:both], order[registered : registered + only_patients]])
    patients = random.permutation(patients)
    listed = random.permutation(order[:registered])
    place = np.full(people, -1)
    place[listed] = np.arange(registered)
    return City(
        Register(name=_names(random, registered), **{name: column[listed] for name, column in facts.items()}),
        Discharges(**{name: column[patients] for name, column in (facts | illness).items()}),
        place[patients],
    )


def _facts(random: np.random.Generator, people: int) -> dict[str, Column]:
    """Draw the twelve facts that both tables hold."""
    span = int((BIRTH_RANGE[1] - BIRTH_RANGE[0]).astype(np.int64)) + 1
    birth = BIRTH_RANGE[0] + (span * random.beta(1.9, 1.25, people)).astype(np.int64)
    age = _ages(birth)
    group = np.searchsorted(_AGES, age, side="right")
    nobody = np.zeros(people, dtype=np.int64)
    zip_weights = 1.0 / (np.arange(1, len(CITY_ZIP_CODES) + 1) + 4)
    male = random.random(people) >= 0.5 + 0.08 * (age - 18) / 78
    education = drawn(random, np.array(_EDUCATION), group)
    occupation = drawn(random, np.array(_OCCUPATION), education)
    occupation[age >= 67] = OCCUPATIONS.index("retired")
    birthplace = drawn(random, np.array(_BIRTHPLACE), nobody)
    housing = drawn(random, np.array(_HOUSING), group)
    height = np.rint(random.normal(np.where(male, 179.0, 166.0) - 0.05 * (age - 40), 6.8))
    return {
        "zip_code": np.array(CITY_ZIP_CODES)[drawn(random, zip_weights[None, :], nobody)],
        "birth_date": birth,
        "sex": np.array(SEXES)[male.astype(np.int64)],
        "marital_status": np.array(MARITAL_STATUSES)[drawn(random, np.array(_MARITAL), group)],
        "children": drawn(random, np.array(_CHILDREN), group),
        "education": np.array(EDUCATIONS)[education],
        "occupation": np.array(OCCUPATIONS)[occupation],
        "birthplace": np.array(BIRTHPLACES)[birthplace],
        "language": np.array(LANGUAGES)[
            drawn(random, np.array(_LANGUAGE), (birthplace == BIRTHPLACES.index("abroad")).astype(np.int64))
        ],
        "housing": np.array(HOUSINGS)[housing],
        "vehicle": np.array(VEHICLES)[
            drawn(random, np.array(_VEHICLE), (housing != HOUSINGS.index("owned")).astype(np.int64))
        ],
        "height": np.clip(height, *HEIGHT_RANGE).astype(np.int64),
    }


def _ages(birth: Column) -> Column:
    """Return the age that everybody reaches in 2026, the year of the tables."""
    return np.asarray(2026 - 1970 - birth.astype("datetime64[Y]").astype(np.int64))


def _diagnoses(random: np.random.Generator, facts: dict[str, Column]) -> Column:
    """Draw a diagnosis for everybody, by age and sex."""
    women, men = np.array(_DIAGNOSIS), np.array(_DIAGNOSIS)
    men[:, DIAGNOSES.index("childbirth")] = 0
    group = np.searchsorted(_AGES, _ages(facts["birth_date"]), side="right")
    group += len(women) * (facts["sex"] == SEXES[1])
    return np.asarray(np.array(DIAGNOSES)[drawn(random, np.concatenate([women, men]), group)])


def _codes(random: np.random.Generator, diagnosis: Column) -> Column:
    """Draw the exact code of every diagnosis."""
    zipf = 1 / np.arange(1, len(CODES[0]) + 1)
    rank = drawn(random, zipf[None, :], np.zeros(len(diagnosis), dtype=np.int64))
    return np.asarray(np.array(CODES)[np.searchsorted(DIAGNOSES, diagnosis), rank])


def _names(random: np.random.Generator, people: int) -> Column:
    """Put a given and a family name together from syllables for everybody; one that exists is a coincidence."""
    first, middle, last = (part.split() for part in _NAME_PARTS)
    given = np.array(["".join(name) for name in product(first, middle)])
    family = np.array(["".join(name) for name in product(first, middle, last)])
    chosen = given[random.integers(len(given), size=people)], family[random.integers(len(family), size=people)]
    return np.asarray(np.strings.add(np.strings.add(chosen[0], " "), chosen[1]))
