"""What the commands share: the spinner tells words and time only, tables fit, and every kind of error has its code."""

from __future__ import annotations

import io
import warnings
from functools import partial

import click
import pytest
from rich.console import Console

from discreet import errors
from discreet.cli.console import answering, as_options, fitted, spinner
from discreet.display import Table

CODES = [
    (errors.UnsupportedSQL("write something else"), 1),
    (errors.PolicyError([(3, "is wrong")]), 1),
    (errors.LedgerMismatch("of other data"), 1),
    (errors.MissingExtra("install it"), 1),
    (errors.MissingParameter("say epsilon="), 2),
    (errors.BudgetExceeded("nothing left"), 3),
    (errors.LedgerTampered("an old copy"), 4),
    (errors.QueryFailed("no answer"), 5),
    (OSError(13, "Permission denied", "file.txt"), 1),
    (RuntimeError("a secret"), 1),
]


@pytest.mark.parametrize(("error", "code"), CODES)
def test_every_kind_of_error_has_its_exit_code_and_no_chain(error: Exception, code: int) -> None:
    with pytest.raises(click.ClickException) as caught, answering():
        raise error
    assert caught.value.exit_code == code
    assert caught.value.__suppress_context__
    assert "secret" not in caught.value.message


def test_a_senseless_price_is_one_line_of_warning(capsys: pytest.CaptureFixture[str]) -> None:
    with answering():
        for _ in range(3):
            warnings.warn("protects nobody", errors.SenselessParameter, stacklevel=1)
    assert capsys.readouterr().err == "Warning: protects nobody\n"


def test_a_usage_error_of_the_program_passes_as_it_is() -> None:
    with pytest.raises(click.UsageError), answering():
        raise click.UsageError("wrong")


def test_the_spinner_shows_words_and_time_on_a_terminal_and_nothing_on_a_pipe() -> None:
    terminal, pipe = (Console(file=io.StringIO(), force_terminal=yes, width=60) for yes in (True, False))
    for console in (terminal, pipe):
        with spinner(console, "Asking") as doing:
            doing("Decoding")
    assert "Decoding" in terminal.file.getvalue()  # type: ignore[attr-defined]
    assert "0:00:0" in terminal.file.getvalue()  # type: ignore[attr-defined]
    assert pipe.file.getvalue() == ""  # type: ignore[attr-defined]


@pytest.mark.parametrize("width", [40, 60, 88])
def test_a_wide_table_is_wrapped_within_its_columns_and_loses_no_word(width: int) -> None:
    wide = Table(["what", "number", "why"], [["some words " * 4, 1234.5, "many more words " * 9], ["x", None, "y"]])
    lines = str(fitted(wide, width)).splitlines()
    assert max(map(len, lines)) <= width
    assert sorted(" ".join(lines[2:]).split()) == sorted(" ".join(str(wide).splitlines()[2:]).split())


def test_a_table_that_fits_is_left_as_it_is() -> None:
    small = Table(["a"], [["b  c"]])
    assert fitted(small, 40) is small


def test_numbers_by_group_are_said_as_the_command_reads_them():
    written = partial(as_options, options=("people",))
    assert written("write people={'Ward, 3': 40, ...}") == "write --people 'Ward, 3=40', and so on"
    assert written("write people={('north', 3): 40, ...}") == "write --people north,3=40, and so on"
    assert (
        written("write people={datetime.date(2026, 1, 1): 40, ...}")
        == "write people={datetime.date(2026, 1, 1): 40, ...}"
    )
    assert written("write size={'a': 40, ...}") == "write size={'a': 40, ...}"


def test_a_line_break_in_a_label_is_shown_where_columns_are_wrapped_too():
    label = "a ward with a name of two\nlines, which is long"
    assert "two\\nlines" in str(fitted(Table(["ward", "n"], [[label, 1]]), 30)).replace("\n", " ")
