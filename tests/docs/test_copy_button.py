"""The copy button takes what a reader would type: no prompt, no output."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path

import pytest

SCRIPT = Path(__file__).resolve().parent.parent.parent / "docs" / "_static" / "copy.js"

pytestmark = pytest.mark.needs("node")


def typed(text):
    source = SCRIPT.read_text(encoding="utf-8")
    function = source[source.index("function typed") : source.index("async function put")]
    command = [
        shutil.which("node") or "node",
        "-e",
        f"{function}console.log(JSON.stringify(typed({json.dumps(text)})))",
    ]
    ran = subprocess.run(command, capture_output=True, text=True, timeout=600, check=True)  # noqa: S603 - our own script
    return json.loads(ran.stdout)


@pytest.mark.parametrize(
    ("shown", "copied"),
    [
        (">>> a = (\n...     1,\n... )\n>>> a\n(1,)\n", "a = (\n    1,\n)\na\n"),
        ("$ discreet ask \\\n    --file a.sql\n95 %\n$ ls\na.sql\n", "discreet ask \\\n    --file a.sql\nls\n"),
        ("[budget]\nrho = 0.5\n", "[budget]\nrho = 0.5\n"),
    ],
)
def test_prompts_and_output_are_left_out(shown, copied):
    assert typed(shown) == copied
