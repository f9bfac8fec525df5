"""Releases on a session's table, one function a method: charged to its ledger, for the unit of its policy."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from inspect import signature
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypedDict, Unpack

from discreet.display import Progress
from discreet.errors import ParameterError
from discreet.laws.number import Number
from discreet.privacy import Price
from discreet.synthesis.base import Neighbors, Synthesizer, SyntheticRelease
from discreet.synthesis.domain import BINS, Bins, Domain
from discreet.synthesis.methods import method_named
from discreet.synthesis.methods.dual_query import DualQuery
from discreet.synthesis.workloads import Workload

if TYPE_CHECKING:
    from discreet.query import Session
    from discreet.synthesis.sessions.release import Prepared


class ReleaseTerms(TypedDict, total=False):
    """How a release is asked for: the price as epsilon=, epsilon= with delta=, rho=, mu= or share=; what is public."""

    epsilon: Number | None
    delta: Number | None
    rho: Number | None
    mu: Number | None
    share: Number | None  # of the budget
    people: int | None  # about how many records there are, unless the policy declares it
    progress: Progress | None  # told the number of steps done and in all, which are public


_PRICE = ("epsilon", "delta", "rho", "mu", "share", "people")
_ASKED = (*_PRICE, "progress")
_CHOICES = tuple(signature(DualQuery.of).parameters)[6:]  # after the workload, the neighbors and the price


def domain_of(
    session: Session,
    table: str,
    columns: Sequence[str] | None = None,
    *,
    bins: int | Mapping[str, int | Bins] = BINS,
) -> Domain:
    """Return the domain of a session's table: what its policy declares public; no data is read.

    A column with public values has those, a Boolean column has both, and a number with a range has at most `bins` of
    equal width, in which numbers beyond the range are clipped to it. Every column has one more code, for NULL and for
    all that was not declared, so that no entry of the private table is an error.

    Args:
        session: an open session.
        table: a private table.
        columns: the columns wanted; all but the one that names the unit if left out.
        bins: how many bins for numbers, in all columns or by name; or `Bins` by name.

    >>> from discreet.data import population, population_columns
    >>> from discreet.privacy import PureDP
    >>> from discreet.query import Session
    >>> people = population(100, seed=1).to_pandas()
    >>> session = Session.from_frames(
    ...     people=people, unit="row", budget=PureDP(1), columns=population_columns()
    ... )
    >>> domain_of(session, "people", ["sex", "age", "hours"], bins={"age": 6}).sizes
    (3, 7, 26)
    """
    from discreet.synthesis.sessions.domain import declared_domain

    return declared_domain(session, table, columns, bins=bins)


def explain_synthesis(
    session: Session, table: str, workload: Workload, *, method: str = "best", **price: Any
) -> Prepared:
    """Return what a release would be, with its `plan`, `guarantee` and how many `fits`; nothing is read or spent.

    The price is stated as for `synthesize`.
    """
    from discreet.synthesis.sessions.release import prepare

    check_keywords(price, _PRICE)
    return prepare(session, table, workload, method_named(method), **price)


def synthesize(
    session: Session, table: str, workload: Workload, *, method: str = "best", **asked: Unpack[ReleaseTerms]
) -> SyntheticRelease:
    """Release a workload of a session's table by the method of a name; the default chooses by a public rule.

    Args:
        session: an open session; its ledger is charged before data is read, and keeps the release.
        table: a private table.
        workload: the queries, over a domain as `domain_of` makes it.
        method: a name of `METHODS`; the functions of these names are the same.
        asked: epsilon=, epsilon= with delta=, rho=, mu= or share=; people=, a public number of records; progress=.
    """
    return _released(method, session, table, workload, asked)


def _released(
    method: str, session: Session, table: str, workload: Workload, asked: Mapping[str, Any]
) -> SyntheticRelease:
    """Release by the method of a name; every other keyword than those of `ReleaseTerms` is refused."""
    from discreet.synthesis.sessions.release import released

    check_keywords(asked, _ASKED)
    return released(session, table, workload, method_named(method), **asked)


def check_keywords(given: Mapping[str, Any], allowed: Sequence[str]) -> None:
    """Refuse a keyword that a release does not take, and name those that it takes."""
    unknown = [name for name in given if name not in allowed]
    if "error" in unknown:
        raise ParameterError(
            "error= sets the price of one answer and not of a release: write epsilon=, epsilon= with delta=, rho=, "
            "mu= or share= (of the budget). Nothing was spent.",
            parameter="error",
        )
    if unknown:
        known = ", ".join(f"{name}=" for name in allowed)
        raise ParameterError(
            f"there is no {unknown[0][:80]}= here; there are {known}. Nothing was spent.", parameter=unknown[0]
        )


def best(session: Session, table: str, workload: Workload, **asked: Unpack[ReleaseTerms]) -> SyntheticRelease:
    """Release by the method that a rule in public numbers chooses; see `Best`, and `plan` for the choice and why."""
    return _released("best", session, table, workload, asked)


def dual_query(
    session: Session,
    table: str,
    workload: Workload,
    *,
    epsilon: Number | None = None,
    delta: Number | None = None,
    rho: Number | None = None,
    mu: Number | None = None,
    share: Number | None = None,
    people: int | None = None,
    progress: Progress | None = None,
    transcript: str | Path | None = None,
    **choices: Any,
) -> SyntheticRelease:
    """Release by DualQuery; see `DualQuery`, whose other parameters (`accounting`, `rounds`, ...) are taken too.

    `transcript` names a file that keeps the draws of every round before they are used. After a crash the same call goes
    on where it ended, and pays again for a round that was lost; a second time from the same round it pays for all that
    follow. Without a file it pays for everything again.
    """
    check_keywords(choices, (*_ASKED, "transcript", *_CHOICES))
    given: dict[str, Any] = {
        "epsilon": epsilon, "delta": delta, "rho": rho, "mu": mu, "share": share, "people": people,
    }  # fmt: skip

    def make(workload: Workload, neighbors: Neighbors, price: Price) -> Synthesizer:
        return DualQuery.of(workload, neighbors, **price.amounts(), **choices)

    from discreet.synthesis.sessions.release import prepare
    from discreet.synthesis.sessions.transcript import released_with

    prepared = prepare(session, table, workload, make, **given)
    return prepared.release(progress=progress) if transcript is None else released_with(prepared, transcript, progress)


def independent(session: Session, table: str, workload: Workload, **asked: Unpack[ReleaseTerms]) -> SyntheticRelease:
    """Release by noisy one-way marginals taken to be independent; see `Independent`."""
    return _released("independent", session, table, workload, asked)


def tree(session: Session, table: str, workload: Workload, **asked: Unpack[ReleaseTerms]) -> SyntheticRelease:
    """Release by a tree of noisy two-way marginals; see `Tree`."""
    return _released("tree", session, table, workload, asked)


def residual(session: Session, table: str, workload: Workload, **asked: Unpack[ReleaseTerms]) -> SyntheticRelease:
    """Release marginals with closed-form variances; see `Residual`."""
    return _released("residual", session, table, workload, asked)


def reweighted(session: Session, table: str, workload: Workload, **asked: Unpack[ReleaseTerms]) -> SyntheticRelease:
    """Release a tree, then weigh its rows; see `Reweighted`."""
    return _released("reweighted", session, table, workload, asked)


def answers(session: Session, table: str, workload: Workload, **asked: Unpack[ReleaseTerms]) -> SyntheticRelease:
    """Release noisy answers, query by query; see `NoisyAnswers`."""
    return _released("answers", session, table, workload, asked)


def mwem(session: Session, table: str, workload: Workload, **asked: Unpack[ReleaseTerms]) -> SyntheticRelease:
    """Release by multiplicative weights over all possible records; see `Mwem`."""
    return _released("mwem", session, table, workload, asked)
