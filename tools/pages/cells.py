"""Execute one notebook cell without a kernel, and return its outputs in nbformat 4.5."""

from __future__ import annotations

import ast
import base64
import io
import sys
import traceback
from contextlib import redirect_stdout
from pathlib import Path
from typing import Any

from tools.pages.shell import Shell

WRITE = "%%writefile "
"""How a cell starts that Jupyter saves as a file instead of running it."""

Output = dict[str, Any]


class Raised(Exception):
    """A cell raised an exception that its page does not show."""


def run_cell(source: str, names: dict[str, Any], count: int, *, may_raise: bool = False) -> list[Output]:
    """Run the source in the namespace; return what it printed, what its last line gave, and the figures it drew."""
    printed = io.StringIO()
    value, error = None, None
    with redirect_stdout(printed):
        try:
            if source.startswith(("!", WRITE)):
                print(_outside_python(source), end="")
            else:
                value = _value_of_last_line(source, names)
        except Exception as raised:
            if not may_raise:
                raise Raised(f"cell {count} raised {type(raised).__name__}: {raised}\n{source}") from raised
            error = raised
    outputs: list[Output] = []
    if printed.getvalue():
        outputs.append({"name": "stdout", "output_type": "stream", "text": _lines(printed.getvalue())})
    if error is not None:
        outputs.append(_error(error))
    if value is not None:
        outputs.append(
            {"data": _shown(value), "execution_count": count, "metadata": {}, "output_type": "execute_result"}
        )
    return outputs + [{"data": data, "metadata": {}, "output_type": "display_data"} for data in _figures()]


def _outside_python(source: str) -> str:
    """Do what Jupyter does with a command of the shell, or with a cell that is a file; return what it prints."""
    if source.startswith("!"):
        told = Shell().run(source.removeprefix("!"))
        return f"{told}\n" if told else ""
    first, _, text = source.partition("\n")
    name = first.removeprefix(WRITE)
    Path(name).write_text(f"{text}\n", encoding="utf-8")
    return f"Writing {name}\n"


def _value_of_last_line(source: str, names: dict[str, Any]) -> object:
    """Execute all, and evaluate the last statement when it is an expression."""
    tree = ast.parse(source)
    last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
    exec(compile(tree, "<cell>", "exec", dont_inherit=True), names)  # noqa: S102 - running the page is the purpose
    if not isinstance(last, ast.Expr):
        return None
    return eval(compile(ast.Expression(last.value), "<cell>", "eval", dont_inherit=True), names)  # noqa: S307 - as above


def _shown(value: object) -> dict[str, Any]:
    """Return the value's text, and its HTML where it has one."""
    data: dict[str, Any] = {"text/plain": _lines(repr(value))}
    html = getattr(value, "_repr_html_", None)
    if callable(html) and not isinstance(value, type):
        data["text/html"] = _lines(html())
    return data


def _error(error: Exception) -> Output:
    text = "".join(traceback.format_exception_only(error)).rstrip("\n")
    return {
        "ename": type(error).__name__,
        "evalue": str(error),
        "output_type": "error",
        "traceback": ["Traceback (most recent call last):", *text.splitlines()],
    }


def _figures() -> list[dict[str, str]]:
    """Return the open matplotlib figures as pictures, and close them."""
    pyplot = sys.modules.get("matplotlib.pyplot")
    if pyplot is None:
        return []
    pictures: list[dict[str, str]] = []
    for number in pyplot.get_fignums():
        buffer = io.BytesIO()
        pyplot.figure(number).savefig(buffer, format="png", dpi=96, metadata={"Software": None})
        pictures.append({"image/png": base64.b64encode(buffer.getvalue()).decode("ascii")})
    pyplot.close("all")
    return pictures


def _lines(text: str) -> list[str]:
    return text.splitlines(keepends=True)
