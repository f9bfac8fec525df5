"""The certificate of a release: what left, under which guarantee, by which record, and what is not guaranteed."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from discreet._version import __version__
from discreet.display import Table, definition_list, page, paragraph, printable_json, section, write_whole
from discreet.errors import ParameterError
from discreet.privacy.guarantees import in_odds, with_notion
from discreet.query.answer.answer import Answer
from discreet.query.answer.ends import plain, rounded_table
from discreet.query.pricing import clipped, included

_NOTHING = paragraph("Nothing: every row counts in full.")
_CAVEATS = (
    "The guarantee is about one unit of protection with all its rows in the policy's tables, for the neighbors named.",
    "Together with every other answer recorded over the same lineage it keeps the budget of the policy, not more.",
    "Intervals cover the noise, for the table as it was clipped and bounded: what is left out is in them only where it "
    "says so.",
    "Not covered: how long the query took, and an analyst who can open the data files or the memory of the process.",
)


@dataclass(frozen=True)
class Certificate:
    """A release for the file: everything in it is public."""

    fields: dict[str, Any]

    def to_json(self) -> str:
        """Return the certificate as JSON."""
        return printable_json(json.dumps(self.fields, indent=2, ensure_ascii=False))

    def to_html(self) -> str:
        """Return the certificate as a page that loads nothing."""
        answer = self.fields["answer"]
        body = [
            section("What was released", _rounded(answer).html() if answer else ""),
            section("Under which guarantee", self._repr_html_()),
            section("By which mechanisms", "".join(paragraph(words) for words in self.fields["mechanisms"])),
            section("What is left out", "".join(paragraph(words) for words in self.fields["left out"]) or _NOTHING),
            section("What is not guaranteed", "".join(paragraph(words) for words in self.fields["caveats"])),
        ]
        return page(f"Certificate of release {self.fields['record']}", "\n".join(body))

    def save(self, path: str | Path) -> Path:
        """Write the certificate; the suffix, .html or .json, says in which form."""
        target = Path(path)
        if target.suffix not in (".html", ".json"):
            raise ParameterError("the name of a certificate must end in .html or .json", parameter="path")
        text = self.to_html() if target.suffix == ".html" else self.to_json()
        return write_whole(target, text.encode("utf-8"))

    def _repr_html_(self) -> str:
        """Show the facts in a notebook."""
        return definition_list(
            [(name, str(value)) for name, value in self.fields.items() if isinstance(value, str | int)]
        )


def _rounded(answer: Mapping[str, list[Any]]) -> Table:
    """Return the answer as people read it: values rounded to their noise; the JSON has all digits."""
    names = list(answer)
    three = [one for one in zip(names, names[1:], names[2:], strict=False) if _are_ends(*one)]
    measured = [name for name, _, _ in three]
    labels = [name for name in names if name not in {each for one in three for each in one}]
    whole = rounded_table(Table(names, list(zip(*answer.values(), strict=True)), labels=labels), measured)
    return replace(whole, digits=6)


def _are_ends(name: str, low: str, high: str) -> bool:
    return low.startswith(f"{name}_low") and high.startswith(f"{name}_high")


def _of_budget(answer: Answer) -> dict[str, str]:
    """Return the total budget, where it is known."""
    if answer.budget is None:
        return {}
    return {"total budget": with_notion(answer.budget), "total budget in odds": in_odds(answer.budget)}


def _ranges(answer: Answer) -> str:
    """Return the ranges to which values were clipped."""
    found = [
        f"{what} from {float(low):,g} to {float(high):,g}"
        for release in answer.releases
        for what, (low, high) in clipped(release.priced)
    ]
    return "; ".join(dict.fromkeys(found)) or "none: nothing was clipped"


def certificate_of(answer: Answer) -> Certificate:
    """Make the certificate of an answer."""
    parts = [one.priced for one in answer.releases]
    priced, records = parts[0], [one.record for one in answer.releases]
    released = [pair for one in parts for pair in zip(one.measures, one.parts, strict=True)]
    return Certificate(
        {
            "date": datetime.now(UTC).date().isoformat(),
            "lineage": answer.lineage,
            "data version": priced.version,
            "query": answer.sql,
            "digest": ", ".join(one.digest for one in parts),
            "guarantee": with_notion(answer.guarantee),
            "guarantee in odds": in_odds(answer.guarantee),
            **_of_budget(answer),
            "unit of protection": answer.unit,
            "neighbors": answer.relation.sentence,
            "bounding": answer.bounding,
            "ranges": _ranges(answer),
            **({"rounding": answer.finished.rounding.words} if answer.finished.rounding else {}),
            "left out": [
                *answer.left_out,
                *([included(priced)] if answer.left_out else []),
            ],
            "mechanisms": [measure.words(part) for measure, part in released],
            "record": ", ".join(str(one.number) for one in records) if records[1:] else records[0].number,
            "entry": ", ".join(one.entry_hash for one in records),
            "analyst": answer.record.analyst,
            "library": f"discreet {__version__}",
            "caveats": list(_CAVEATS),
            "answer": {name: [plain(value) for value in column] for name, column in answer.to_dict().items()},
        }
    )
