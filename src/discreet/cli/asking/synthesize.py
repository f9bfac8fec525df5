"""`discreet synthesize`: a synthetic table that answers very many counting queries about a private one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import click
from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeElapsedColumn

from discreet.cli import options
from discreet.cli.asking.options import check_place, check_target, finite, opened
from discreet.cli.console import ReadableConsole, Refusal, answering, progressing, say_json, showing_what_is_paid
from discreet.display import Progress, Table
from discreet.privacy.guarantees import in_words, plain
from discreet.query import Session
from discreet.query.policy import MOST_PEOPLE
from discreet.synthesis import (
    SyntheticRelease,
    SyntheticTable,
    Workload,
    conjunctions,
    domain_of,
    explain_synthesis,
    marginals,
    predict,
)
from discreet.synthesis.methods import METHODS, spelled
from discreet.synthesis.sessions import BINS, Prepared, exact, plan_lines, released_with
from discreet.synthesis.sessions import plain as plan_values

_FILES = (".csv", ".parquet")
_QUERIES, _MOST_ROWS = 100_000, 10_000_000
_MOST_WAYS = 64
_COLUMNS = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())


class MethodName(click.Choice[str]):
    """The name of a method, in any of the usual spellings: dual-query, dual_query, "Dual query"."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """Return the name as the list has it."""
        return super().convert(spelled(value), param, ctx)


@options.command()
@click.argument("table")
@options.policy_option()
@options.analyst_option()
@click.option("--column", "columns", multiple=True, help="A column to take; repeat it for several. All if left out.")
@options.stated("--bins", click.IntRange(min=1), BINS, "The most bins, of equal width, for a number with a range.")
@click.option(
    "--marginals", type=click.IntRange(min=1), help="Ask for every cell of the marginals of this many columns."
)
@click.option(
    "--ways", type=click.IntRange(1, _MOST_WAYS), help="Ask random questions about this many attributes each (3)."
)
@click.option("--queries", type=click.IntRange(min=1), help=f"How many random questions ({_QUERIES:,}).")
@options.stated("--seed", click.IntRange(min=0), 1, "The public seed of the random questions.")
@options.stated(
    "--method", MethodName(list(METHODS)), "best", "How it is made; best chooses by a public rule and says why."
)
@options.number_option("--epsilon", words="Price: epsilon of this release.")
@options.number_option("--delta", words="With --epsilon: the delta of this release, far below one over the people.")
@options.number_option("--rho", words="Price: rho of this release, under a zCDP budget.")
@options.number_option("--mu", words="Price: mu of this release, under a Gaussian or a zCDP budget.")
@options.number_option("--share", words="Price: a part of the budget, such as 0.5.")
@click.option("--people", type=click.IntRange(1, MOST_PEOPLE), help="About how many records; public, never counted.")
@click.option("--size", type=click.IntRange(1, _MOST_ROWS), help="Write this many rows, without a column of weights.")
@click.option("--out", type=options.FILE, help="Where to write the synthetic table: .csv or .parquet.")
@click.option(
    "--transcript",
    type=options.FILE,
    help="With --method dual-query: keep every round in this file, and go on from it after a crash.",
)
@click.option("--explain", "only_explain", is_flag=True, help="Show the plan and its cost; nothing is spent.")
@options.json_option()
def synthesize(table: str, policy: Path, analyst: str | None, **asked: Any) -> None:
    """Make a synthetic table of TABLE. The cost is charged first, and the same request again is free.

    For example: discreet synthesize visits --epsilon 1 --people 10000 --out synthetic.csv
    """
    as_json, out, size, transcript = (asked.pop(name) for name in ("as_json", "out", "size", "transcript"))
    only_explain = asked.pop("only_explain")
    with answering():
        if out is None and not only_explain:
            raise Refusal("say where to write the table: --out synthetic.csv; or --explain, which spends nothing")
        if transcript is not None and asked["method"] != "dual-query":
            raise Refusal("--transcript keeps draws, and only --method dual-query draws")
        if transcript is not None and out is not None and transcript.absolute() == out.absolute():
            raise Refusal("--transcript and --out are two files: name another one")
        # what cannot be written is refused before anything is charged
        check_file(out)
        with opened(policy, analyst) as session:
            check_place("--out", out, session.policy, policy)
            prepared = _prepared(session, table, asked)
            if only_explain:
                show_plan(prepared, as_json=as_json)
                return
            # the rounds that are done are public
            with progressing(ReadableConsole(stderr=True), _COLUMNS, "Synthesizing", total=None) as update:
                release = _made(prepared, transcript, lambda done, steps: update(completed=done, total=steps))
        # the table is paid for, so it is written before anything else can go wrong
        table_written = release.table if size is None else release.table.unweighted(size)
        with showing_what_is_paid(release.evidence["record"]["number"]):
            written = write(table_written, out)
            console = ReadableConsole(stderr=as_json)
            if as_json:
                say_json(machine(release, table_written, written))
            else:
                show_release(console, release, table_written)
            console.say_written(written)


def check_file(out: Path | None, endings: Sequence[str] = _FILES) -> None:
    """Refuse a file that could not be written, while refusing is still free."""
    check_target("--out", out, endings)
    if out is None:
        return
    if out.suffix == ".parquet":
        from discreet._optional import optional

        optional("pyarrow", extra="frames", purpose="writing a Parquet file")
    if not str(out).isprintable():
        raise Refusal("--out: the name of the file cannot be printed; name another")
    there = out.exists()
    if there and not out.is_file():
        raise Refusal(f"--out: {out} is not a file that can be written; name another")
    try:
        out.open("ab").close()  # what it holds stays
    except OSError as problem:
        raise Refusal(f"--out: {out} cannot be written: {problem.strerror}") from None
    if not there:
        out.unlink()


def _made(prepared: Prepared, transcript: Path | None, progress: Progress | None) -> SyntheticRelease:
    if transcript is None:
        return prepared.release(progress=progress)
    return released_with(prepared, transcript, progress)


def write(table: SyntheticTable, out: Path) -> Path:
    """Write the table."""
    return table.to_parquet(out) if out.suffix == ".parquet" else table.to_csv(out)


def workload_of(session: Session, table: str, asked: Mapping[str, Any]) -> Workload:
    """Return the queries that the options ask for."""
    ways, count, cells = asked["ways"], asked["queries"], asked["marginals"]
    if cells is not None and (ways is not None or count is not None):
        raise Refusal("--marginals asks for every cell, and --ways and --queries for random questions: keep one")
    domain = domain_of(session, table, asked["columns"] or None, bins=asked["bins"])
    if cells is not None:
        return marginals(domain, ways=cells)
    return conjunctions(domain, ways=ways or 3, count=count or _QUERIES, seed=asked["seed"])


def _prepared(session: Session, table: str, asked: dict[str, Any]) -> Prepared:
    price = {name: asked.pop(name) for name in ("epsilon", "delta", "rho", "mu", "share", "people")}
    workload = workload_of(session, table, asked)
    return explain_synthesis(session, table, workload, method=asked["method"], **price)


def show_plan(prepared: Prepared, *, as_json: bool) -> None:
    """Print what a release would be."""
    if as_json:
        found = {**_machine_plan(prepared.made.name, prepared.plan), "cost": plain(prepared.guarantee)}
        say_json({**found, "fits": prepared.fits})
        return
    console = ReadableConsole()
    workload = prepared.made.workload
    console.say_facts(
        [
            ("method", prepared.made.name),
            ("queries", f"{len(workload):,}: {workload.description}"),
            ("columns", f"{len(workload.domain)}, {workload.domain.width:,} values in all"),
            ("cost", in_words(prepared.guarantee)),
            ("fits", f"{prepared.fits:,} times into what is left of the budget"),
        ],
    )
    console.say_table(plan_table(prepared.plan))
    console.say("No data was read and nothing was spent.")


def show_release(console: ReadableConsole, release: SyntheticRelease, written: SyntheticTable) -> None:
    """Print what was released, and what of it was written."""
    record, known = release.evidence["record"], predict(release)
    facts = [
        ("method", release.method),
        ("guarantee", in_words(release.guarantee)),
        ("queries", f"{len(release.workload):,}: {release.workload.description}"),
        ("table", rows_in_words(release.table)),
        ("written", rows_in_words(written)),
        ("record", f"{record['number']}{', handed out again at no cost' if record['replayed'] else ''}"),
    ]
    if known is not None:
        facts.append(("predicted error", f"{_errors(known.average, known.maximum)}; from {known.source}"))
    console.say_facts(facts)
    console.say_table(plan_table(release.plan))
    console.print()


def plan_table(plan: Mapping[str, Any]) -> Table:
    """Return the public parameters, a row each."""
    return Table(["parameter", "value"], [list(line) for line in plan_lines(plan)])


def rows_in_words(table: SyntheticTable) -> str:
    """Return how many rows a table has, and whether they count alike."""
    return f"{len(table):,} rows{'' if table.weights is None else ', weighted'}"


def machine(release: SyntheticRelease, table: SyntheticTable, written: Path) -> dict[str, Any]:
    """Return what was released as plain values."""
    known = predict(release)
    errors = {} if known is None else {"average": known.average, "maximum": known.maximum}
    return {
        **_machine_plan(release.method, release.plan),
        "guarantee": plain(release.guarantee),
        "queries": len(release.workload),
        "rows": len(table),
        "weighted": table.weights is not None,
        "predicted": {name: finite(value) for name, value in errors.items()},
        **{name: release.evidence["record"][name] for name in ("number", "entry", "replayed")},
        "file": str(written),
    }


def _machine_plan(method: str, plan: Mapping[str, Any]) -> dict[str, Any]:
    return {"method": method, "plan": plan_values(plan), "exact": exact(plan)}


def _errors(average: float | None, maximum: float | None) -> str:
    parts = (("on average", average), ("at most", maximum))
    return ", ".join(f"{words} {value:.4g}" for words, value in parts if value is not None)
