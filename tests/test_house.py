"""The shape of the house: short tables of contents, names from where they are made, no knots, a current page."""

from __future__ import annotations

import ast
import tomllib
from collections import defaultdict
from pathlib import Path

import pytest

from tools.imports import House
from tools.pages import house as page

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = ROOT / "src" / "discreet"
FOLDERS = sorted(path.parent for path in PACKAGE.glob("*/**/__init__.py"))
MORE = {"cli/attack", "testing/museum"}  # commands and kinds of exhibits: up to 14
ROOMS = sorted(path.name for path in PACKAGE.iterdir() if list(path.glob("*/__init__.py")))
SHARED = {
    "Bins",  # of a column of a domain, and of the features of a model: the same cut into even parts
    "Source",  # of a policy, where its tables are; of a measurement, which of their rows were added up
}


@pytest.fixture(scope="module")
def house():
    return House.of(PACKAGE)


def entries(folder):
    files = [path for path in folder.glob("*.py") if path.name != "__init__.py"]
    return [*files, *folder.glob("*/__init__.py")]


@pytest.mark.parametrize("folder", [str(folder.relative_to(PACKAGE)) for folder in FOLDERS])
def test_a_folder_is_a_short_table_of_contents(folder):
    assert len(entries(PACKAGE / folder)) <= (14 if folder in MORE else 12)


def test_every_file_opens_with_a_sentence(house):
    for path in house.files.values():
        assert page.first_sentence(path).endswith((".", "?")), path


def test_no_class_name_stands_twice(house):
    """A name in a message or on a page then means one class; classes for one file alone start with an underscore."""
    places = defaultdict(list)
    for module, path in house.files.items():
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                places[node.name].append(module)
    assert {name: found for name, found in places.items() if len(found) > 1 and name not in SHARED} == {}


def test_only_package_files_hand_on_names(house):
    for module, imports in house.imports.items():
        for one in imports:
            if one.module in house.files and f"{one.module}.{one.name}" not in house.files:
                handed = one.name not in house.defines[one.module] and not house.is_package(one.module)
                assert not handed, f"{module} imports {one.name} from {one.module}, which does not define it"


def test_no_more_than_three_files_read_each_other_in_a_circle(house):
    assert [knot for knot in house.knots() if len(knot) > 3] == []


def test_every_file_with_one_reader_has_a_reason_and_every_reason_its_file(house):
    stated = [f"discreet.{module}" for files in page.read_once(ROOT).values() for module in files]
    assert sorted(stated) == sorted(house.read_once())


def test_a_knot_is_found(tmp_path):
    for name, other in ("a", "b"), ("b", "c"), ("c", "a"), ("d", "a"):
        (tmp_path / "p").mkdir(exist_ok=True)
        (tmp_path / "p" / f"{name}.py").write_text(f"def f():\n    from p.{other} import f\n", encoding="utf-8")
    assert House.of(tmp_path / "p").knots() == [["p.a", "p.b", "p.c"]]


@pytest.mark.parametrize("room", ROOMS)
def test_every_room_with_floors_has_a_contract_that_names_all_of_them(room):
    contracts = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["importlinter"][
        "contracts"
    ]
    (stated,) = [contract for contract in contracts if contract.get("containers") == [f"discreet.{room}"]]
    assert stated["exhaustive"]


def test_the_page_of_the_house_is_current():
    assert page.main(["--check"]) == 0, "run `make house`"
