"""Write docs/house.md: every room, its floors, and the first sentence of each file, in reading order of the imports."""

from __future__ import annotations

import argparse
import re
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

from tools.imports import House, contents

ROOT = Path(__file__).resolve().parent.parent.parent
SOURCE = Path("src/discreet")
PAGE = Path("docs/house.md")
ONE_READER = Path("tools/pages/one_reader.toml")
_WHY = {
    "public": "Users read them too: the room exports their names.",
    "long": "Together with their reader they would have more than 420 lines, or stand on two floors.",
    "ideas": "Two ideas, each whole in its file.",
}
_OPENING = """\
# The house

Every room of `src/discreet`, lowest first: a room imports only what stands above it on this page, and so does a floor
of a room; `make lint` holds the order. Inside a floor a file stands below those that it reads. One sentence a file,
taken from the file itself; `make house` writes this page.
"""


def first_sentence(path: Path) -> str:
    """Return the first line of a module's docstring."""
    return contents(path.read_text(encoding="utf-8")).opening


def ordered(root: Path) -> dict[str, list[str]]:
    """Return the parts of every package that has a contract, lowest first."""
    stated = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))
    found = {}
    for contract in stated["tool"]["importlinter"]["contracts"]:
        for container in contract.get("containers", ()):
            layers = reversed(contract["layers"])
            found[container] = [re.sub(r"[() ]", "", part) for layer in layers for part in layer.split("|")]
    return found


def parts(folder: Path, order: list[str]) -> Iterator[Path]:
    """Yield the files and packages of a folder in their order, others behind."""
    found = {path.stem: path for path in sorted(folder.glob("*.py")) if path.name != "__init__.py"}
    found |= {path.parent.name: path.parent for path in sorted(folder.glob("*/__init__.py"))}
    for name in [*(name for name in order if name in found), *(name for name in found if name not in order)]:
        yield found[name]


def by_imports(house: House, package: str) -> list[str]:
    """Return the parts of a package, each behind those that it reads; parts that read each other stay by name."""
    inside = f"{package}."
    part = {
        module: module.removeprefix(inside).partition(".")[0] for module in house.files if module.startswith(inside)
    }
    reads: dict[str, set[str]] = {name: set() for name in sorted(part.values())}
    for module, others in house.reads.items():
        if module in part:
            reads[part[module]] |= {part[other] for other in others if other in part} - {part[module]}
    found: list[str] = []
    waiting = list(reads)
    while waiting:
        ready = next((name for name in waiting if reads[name] <= set(found)), waiting[0])
        found.append(ready)
        waiting.remove(ready)
    return found


def lines(folder: Path, package: str, order: dict[str, list[str]], depth: int) -> Iterator[str]:
    """Yield the list of one folder, floors indented below their sentence."""
    indent = "  " * depth
    for path in parts(folder, order[package]):
        if path.is_dir():
            yield f"{indent}- **{path.name}/** {first_sentence(path / '__init__.py')}"
            yield from lines(path, f"{package}.{path.name}", order, depth + 1)
        else:
            yield f"{indent}- `{path.name}` {first_sentence(path)}"


def read_once(root: Path) -> dict[str, dict[str, str]]:
    """Return the files with one reader that are files of their own all the same, by reason."""
    stated: dict[str, dict[str, str]] = tomllib.loads((root / ONE_READER).read_text(encoding="utf-8"))
    return stated


def page(root: Path) -> str:
    """Return the whole page."""
    house = House.of(root / SOURCE)
    packages = [module for module in house.files if house.is_package(module)]
    order = {package: by_imports(house, package) for package in packages} | ordered(root)
    written = [_OPENING]
    loose = []
    for path in parts(root / SOURCE, order["discreet"]):
        if path.is_dir():
            written.append(f"\n## {path.name}\n\n{first_sentence(path / '__init__.py')}\n\n")
            written.extend(line + "\n" for line in lines(path, f"discreet.{path.name}", order, 0))
        else:
            loose.append(f"- `{path.name}` {first_sentence(path)}\n")
    written.insert(1, "\n## Files below all rooms\n\n" + "".join(loose))
    written.append(
        "\n## Files with one reader\n\nA file that one other file reads belongs into its reader, but for these.\n"
    )
    for reason, files in read_once(root).items():
        written.append(f"\n{_WHY[reason]}\n\n")
        written.extend(f"- `{name}`: {words}\n" for name, words in files.items())
    return "".join(written)


def main(arguments: list[str] | None = None) -> int:
    """Write the page, or say whether it is current."""
    parser = argparse.ArgumentParser(prog="python -m tools.pages.house", description=__doc__)
    parser.add_argument("--check", action="store_true", help="write nothing; fail if the page is not current")
    options = parser.parse_args(arguments)
    text = page(ROOT)
    if not options.check:
        (ROOT / PAGE).write_text(text, encoding="utf-8")
        print(PAGE)
        return 0
    if (ROOT / PAGE).exists() and (ROOT / PAGE).read_text(encoding="utf-8") == text:
        return 0
    print(f"{PAGE} is not current: run `make house`.", file=sys.stderr)
    return 1


if __name__ == "__main__":
    sys.exit(main())
