"""The words of the demo: chapters of plain sentences and small tables, for the terminal and the report alike."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from discreet.cli.console import Chapter
from discreet.display import LastDigit, Table, format_number
from discreet.privacy.guarantees import in_words

if TYPE_CHECKING:
    from discreet.cli.demo.story import Story
    from discreet.query import Answer

ATTACK, DEPARTMENTS = "attack", "departments"
_MOST_ROWS = 12


def chapters(story: Story) -> list[Chapter]:
    """Return the whole story, in the order in which it is told."""
    told = (_people, _attack, _policy, _private, _explained, _departments, _others, _diagnoses, _again, _refusals)
    return [chapter(story) for chapter in (*told, _ledger, _claims)]


def _people(story: Story) -> Chapter:
    """Introduce the database and say that it is invented."""
    return Chapter(
        "A hospital that does not exist",
        (
            f"We generated {story.people:,} patients and {story.visits:,} visits with seed {story.seed}, in a DuckDB "
            "file. They are synthetic: nobody here is real.",
            "Every patient has a genetic marker, 0 or 1, that nobody should learn. It is a fair coin: nothing else in "
            "the database tells anything about it, so that guessing gets half of them right.",
        ),
        Table(
            ["table", "what it holds"],
            [
                ["patients", "practice and card number (known to many), age, sex, region; the marker (secret)"],
                ["visits", "several a patient: day, department, diagnosis, nights, cost"],
                ["regions", "what everybody knows about eight regions"],
            ],
        ),
    )


def _attack(story: Story) -> Chapter:
    """Tell the reconstruction from exact answers."""
    found = story.plain
    return Chapter(
        "An attack on exact answers",
        (
            f"Somebody may ask for counts by practice only, {found.queries} of them, each about half of the people of "
            f"every practice. This is the 37th: {story.question}",
            "Least squares then finds the column that fits the counts best, and rounds it to zeros and ones.",
        ),
        Table(
            ["what the attacker has", "secret bits recovered"],
            [["nothing, and guesses", "50 %"], [f"{found.queries} exact answers", _percent(found.recovered)]],
        ),
        (
            f"That is the marker of {_people_right(story)} patients. No question was about one person, and "
            "none was about a small group.",
        ),
    )


def _policy(story: Story) -> Chapter:
    """Tell what the curator decides."""
    from discreet.cli.demo.stage import VISITS

    balance = story.balance
    return Chapter(
        "What the curator writes",
        ("One file, policy.toml, says what is protected and how much may be learned, without looking at a row.",),
        Table(
            ["decision", "here"],
            [
                ["who is protected", f"a {balance.unit}, with all rows in all tables"],
                ["how much may be learned", f"{in_words(balance.budget)}, by everybody together, for good"],
                ["who may ask", f"ana; mallory, up to {in_words(story.own.own_cap or balance.budget)}"],
                ["what is public", "departments, regions, practices; ranges of ages, costs and nights"],
                ["how much of one patient counts", f"at most {VISITS} visits"],
            ],
        ),
    )


def _private(story: Story) -> Chapter:
    """Tell the same attack through a session."""
    from discreet.cli.demo.story import EACH

    found = story.private
    each, total = format_number(EACH, digits=6), format_number(found.queries * EACH, digits=6)
    top = _up(1.0 if found.ceiling is None else found.ceiling.upper)
    return Chapter(
        "The same attack, through discreet",
        (
            f"Mallory asks the same {found.queries} questions in a session, at epsilon {each} each, {total} in all. "
            "The price is charged before the data is read, and every count gets noise that hides one person.",
        ),
        Table(
            ["what the attacker has", "secret bits recovered"],
            [
                ["nothing, and guesses", "50 %"],
                [f"{found.queries} private answers", _percent(found.recovered)],
                ["the most that any attacker can expect at this price", top],
                [f"{found.queries} exact answers", _percent(story.plain.recovered)],
            ],
        ),
        (
            f"This attack can expect {_percent(story.expected)}. The ceiling, {top}, is exact and holds for any "
            "attacker, with any method, who may even know all the other markers: it follows from the price alone.",
            f"Mallory asks for more and is refused: {story.spent.words}" if story.spent.words else
            "Mallory asked for more than the cap, and was answered: this must not happen.",
        ),
        drawing=ATTACK,
    )  # fmt: skip


def _explained(story: Story) -> Chapter:
    """Tell what is known before a question is asked."""
    from discreet.cli.demo.story import ABOUT, BY_DEPARTMENT

    explained = story.explained
    whole = explained.aggregates
    return Chapter(
        "Before asking: what it costs, and how exact it will be",
        (
            f"Ana studies the hospital. She wants to know: {BY_DEPARTMENT}",
            f"An explanation tells the price and the noise beforehand, for departments of about {ABOUT} visits. It "
            "reads no data and spends nothing.",
        ),
        Table(whole.columns[:-1], [row[:-1] for row in whole.rows], digits=5),
        (
            f"Price: {in_words(explained.guarantee)}. Groups: {explained.groups}. Bounding: {explained.bounding}. "
            f"About {explained.fits:,} questions like it still fit into the budget.",
        ),
    )


def _departments(story: Story) -> Chapter:
    """Tell the counts and means of all departments."""
    from discreet.cli.demo.stage import VISITS

    answer = story.departments
    return Chapter(
        "Useful answers: visits and costs by department",
        (),
        _intervals(answer, f"With 95 % intervals, at {in_words(answer.guarantee)}"),
        (
            "Totals over many people survive the noise. What one person adds to them does not. The intervals are for "
            f"the table as it was bounded: a patient with more than {VISITS} visits counts as {VISITS}.",
        ),
        drawing=DEPARTMENTS,
    )


def _others(story: Story) -> Chapter:
    """Tell a sum, a number of people, and medians."""
    totals, medians = story.totals, story.medians
    rows: list[list[object]] = []
    for answer in (totals, medians):
        for name in answer.measured:
            estimates = answer.estimates(name)
            for place, one in enumerate(estimates):
                label = f"{name}, {answer.rows[place][0]}" if len(estimates) > 1 else name
                rows.append([label, _number(one.value), " to ".join(_number(end) for end in one.ends)])
    return Chapter(
        "A sum, a number of people, medians",
        (f"Two queries: {totals.sql}; {medians.sql}. Each cost {in_words(totals.guarantee)}.",),
        Table(["answer", "value", "95 % interval"], rows),
        ("A median is chosen among the possible values, with chances that one person hardly changes.",),
    )


def _diagnoses(story: Story) -> Chapter:
    """Tell keys that nobody listed beforehand."""
    answer = story.diagnoses
    named, delta = len(answer), Fraction(getattr(answer.guarantee, "delta", 0))
    return Chapter(
        "Keys that nobody listed: diagnoses",
        (
            "The policy does not say which diagnoses there are, so they are found: one is named where the noisy number "
            f"of its patients passes a threshold. One that a single patient has is named with a chance of at most "
            f"{format_number(delta, rounding=LastDigit.UP)}, the delta of this answer.",
        ),
        _intervals(answer, f"With 95 % intervals, at {in_words(answer.guarantee)}; {named} diagnoses were named"),
    )


def _again(story: Story) -> Chapter:
    """Tell that a question asked again is free."""
    first, again = story.departments, story.again
    return Chapter(
        "Asked again, free",
        ("The same question at the same price is the stored answer. Averaging repeated answers gains nothing.",),
        Table(
            ["asked", "record", "handed out again", "visits in cardiology"],
            [
                [words, str(one.record.number), one.record.replayed, _number(one["visits"][0])]
                for words, one in (("first", first), ("again", again))
            ],
        ),
    )


def _refusals(story: Story) -> Chapter:
    """Tell what is not answered."""
    return Chapter(
        "What is refused, and why",
        ("A refusal says what to write instead. It is decided before any data is read, and costs nothing.",),
        Table(["asked", "refused with"], [[one.sql, _first_sentences(one.words)] for one in story.refusals]),
    )


def _ledger(story: Story) -> Chapter:
    """Tell what was spent, and that the books are in order."""
    balance, found = story.balance, story.verification
    return Chapter(
        "The ledger",
        ("Every charge was on the disk before its answer existed, in a chain of hashes that shows any change.",),
        Table(
            ["in the books", ""],
            [
                ["budget", in_words(balance.budget)],
                ["spent by all", in_words(balance.spent)],
                ["left for all", in_words(balance.remaining, rounding=LastDigit.DOWN)],
                ["charges", f"{found.charges:,}, {found.answers:,} with a stored answer"],
                ["entries verified", f"{found.entries:,}"],
                ["head", f"{found.head[:32]}..."],
            ],
        ),
    )


def _claims(story: Story) -> Chapter:
    """Tell what was claimed and whether it held."""
    rows = [[claim.words, "held" if claim.held else "FAILED"] for claim in story.claims]
    return Chapter(
        "What this demo claims",
        (),
        Table(["claim", "this time"], rows),
        (f"The attacks and answers took {story.seconds:.1f} s. The noise has no seed: another run has other answers.",),
    )


def _intervals(answer: Answer, words: str) -> Table:
    """Return the first rows of an answer with both ends of each interval."""
    columns: list[str] = []
    cells: list[list[object]] = []
    for name in answer.columns:
        columns.append(name)
        if name not in answer.measured:
            cells.append(list(answer[name]))
            continue
        estimates = answer.estimates(name)
        columns += ["from", "to"]
        cells += [[_rounded(getattr(one, end)) for one in estimates] for end in ("value", "low", "high")]
    rows = [list(row) for row in zip(*cells, strict=True)][:_MOST_ROWS]
    return Table(columns, rows, words)


def _rounded(value: Any) -> int | float:
    """Return a number of an answer to the digits that people read; its noise deserves no more."""
    return round(value) if abs(value) >= 100 or value == round(value) else round(float(value), 1)


def _number(value: Any) -> str:
    return format_number(_rounded(value))


def _people_right(story: Story) -> str:
    return f"{round((story.plain.recovered or 0.0) * story.people):,} of {story.people:,}"


def _percent(share: float | None) -> str:
    return f"{100 * (share or 0.0):.1f} %"


def _up(share: float) -> str:
    return f"{math.ceil(1000 * share) / 10:.1f} %"


def _first_sentences(words: str) -> str:
    return words.removesuffix(" Nothing was spent.")
