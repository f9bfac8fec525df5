"""Write requirements/dev.txt: what `make` installs, every version pinned, every file known by its hash.

Needs pip-tools, and the oldest supported Python: a version that has wheels there has them for the newer ones too.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
LOCK = Path("requirements/dev.txt")
EXTRAS = ("plot", "frames", "sql", "fast", "learn", "bayes")
GROUPS = ("test", "lint", "docs")
EDITABLE = "editables"  # what hatchling asks for when it builds an editable install
OLDEST = (3, 11)
HEADER = "# Made by `make lock` from pyproject.toml; install with --require-hashes. Do not edit.\n"


def requirements(root: Path) -> list[str]:
    """Return what the development environment needs, as pyproject.toml states it."""
    stated = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))
    project = stated["project"]
    return [
        *stated["build-system"]["requires"],
        EDITABLE,
        *project["dependencies"],
        *(one for extra in EXTRAS for one in project["optional-dependencies"][extra]),
        *(one for group in GROUPS for one in stated["dependency-groups"][group]),
    ]


def compiled(stated: list[str]) -> str:
    """Resolve the requirements and return them pinned, with hashes and without any trace of where they came from."""
    program = shutil.which("pip-compile", path=str(Path(sys.executable).parent)) or "pip-compile"
    options = (
        "--generate-hashes --strip-extras --allow-unsafe --quiet --no-header --no-annotate "
        "--no-emit-options --no-emit-index-url --no-emit-find-links --no-emit-trusted-host --output-file=- -"
    )
    made = subprocess.run(  # noqa: S603 - a program beside this Python, with options fixed above
        [program, *options.split()], input="\n".join(stated), capture_output=True, text=True, check=False
    )
    if made.returncode:
        raise SystemExit(made.stderr)
    return made.stdout


def main() -> int:
    """Write the lock."""
    if sys.version_info[:2] != OLDEST:
        print(f"Run this with Python {'.'.join(map(str, OLDEST))}.", file=sys.stderr)
        return 1
    (ROOT / LOCK).write_text(HEADER + compiled(requirements(ROOT)), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
