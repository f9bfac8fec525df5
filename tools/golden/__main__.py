"""Write tests/golden/*.txt anew."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from tools.golden.files import FILES, FOLDER, text_of


def main(arguments: list[str] | None = None) -> int:
    """Write every file, or those that are named."""
    parser = argparse.ArgumentParser(prog="python -m tools.golden", description=__doc__)
    parser.add_argument("files", nargs="*", metavar="file", help=f"one of {', '.join(FILES)}; all where none is named")
    parser.add_argument("--folder", type=Path, default=FOLDER, help="where to write")
    options = parser.parse_args(arguments)
    unknown = set(options.files) - set(FILES)
    if unknown:
        parser.error(f"there is no golden file {', '.join(sorted(unknown))}")
    options.folder.mkdir(parents=True, exist_ok=True)
    for name in options.files or FILES:
        text = text_of(list(FILES[name]()))
        (options.folder / f"{name}.txt").write_text(text, encoding="utf-8", newline="\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
