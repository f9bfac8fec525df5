"""Which file of the house reads which: imports in functions and for types count, and so do names handed on."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path
from typing import NamedTuple


class Imported(NamedTuple):
    """One name that a file imports, and the module it names for it."""

    module: str
    name: str


class Contents(NamedTuple):
    """What is read of one file: how its docstring opens, what it imports, what it defines."""

    opening: str
    imports: tuple[Imported, ...]
    defines: frozenset[str]


@cache
def contents(text: str) -> Contents:
    """Read the source of one file, once for all that ask about it."""
    tree = ast.parse(text)
    opening = " ".join((ast.get_docstring(tree) or "").partition("\n\n")[0].split())
    return Contents(opening, tuple(_imported(tree)), frozenset(_defined(tree.body)))


@dataclass(frozen=True)
class House:
    """The files of a package by module name, with what each imports and defines."""

    files: Mapping[str, Path]
    imports: Mapping[str, tuple[Imported, ...]]
    defines: Mapping[str, frozenset[str]]

    @classmethod
    def of(cls, package: Path) -> House:
        """Read all files below a package."""
        files = {_name(path, package): path for path in sorted(package.rglob("*.py"))}
        found = {name: contents(path.read_text(encoding="utf-8")) for name, path in files.items()}
        return cls(
            files,
            {name: one.imports for name, one in found.items()},
            {name: one.defines for name, one in found.items()},
        )

    def is_package(self, module: str) -> bool:
        """Whether a module is the package file of a folder."""
        return self.files[module].name == "__init__.py"

    def source(self, imported: Imported) -> str | None:
        """Return the module that an import reads in the end, or nothing for one from elsewhere."""
        module, name = imported
        if f"{module}.{name}" in self.files:
            return f"{module}.{name}"
        if module not in self.files:
            return None
        if self.is_package(module) and name not in self.defines[module]:
            for handed in self.imports[module]:
                if handed.name == name and handed.module != module:
                    return self.source(handed)
        return module

    @cached_property
    def reads(self) -> dict[str, set[str]]:
        """For every module the modules that it reads."""
        found = {name: {self.source(one) for one in imports} for name, imports in self.imports.items()}
        return {name: {one for one in read if one and one != name} for name, read in found.items()}

    def read_once(self) -> dict[str, str]:
        """Return the files that exactly one other file reads, each with its reader; package files are no readers."""
        reads = self.reads
        files = [module for module in self.files if not self.is_package(module)]
        readers = {module: [one for one in files if module in reads[one]] for module in files}
        return {module: found[0] for module, found in readers.items() if len(found) == 1}

    def knots(self) -> list[list[str]]:
        """Return the groups of files that read each other in a circle, largest first."""
        reads = self.reads
        place: dict[str, int] = {}
        lowest: dict[str, int] = {}
        path: list[str] = []
        found: list[list[str]] = []

        def visit(module: str) -> None:
            place[module] = lowest[module] = len(place)
            path.append(module)
            for other in sorted(reads[module]):
                if other not in place:
                    visit(other)
                if other in path:
                    lowest[module] = min(lowest[module], lowest[other])
            if lowest[module] == place[module]:
                start = path.index(module)
                found.append(sorted(path[start:]))
                del path[start:]

        for module in sorted(reads):
            if module not in place:
                visit(module)
        return sorted((knot for knot in found if len(knot) > 1), key=len, reverse=True)


def _name(path: Path, package: Path) -> str:
    """Return the module name of a file."""
    parts = path.relative_to(package.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def _imported(tree: ast.Module) -> Iterator[Imported]:
    """Yield what `from ... import` brings, wherever it stands; the house has no relative imports."""
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module:
            yield from (Imported(node.module, alias.name) for alias in node.names)


def _defined(body: list[ast.stmt]) -> Iterator[str]:
    """Yield the names that a module makes itself."""
    for node in body:
        match node:
            case ast.FunctionDef() | ast.ClassDef():
                yield node.name
            case ast.Assign():
                yield from (
                    name.id for target in node.targets for name in ast.walk(target) if isinstance(name, ast.Name)
                )
            case ast.AnnAssign(target=ast.Name(id=name)):
                yield name
            case ast.If() | ast.Try():
                yield from _defined([*node.body, *node.orelse])
