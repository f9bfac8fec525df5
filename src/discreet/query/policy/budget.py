"""The budget of a policy and the caps of its analysts, exact numbers in one notion of privacy, and their ledger."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import TypeVar

from discreet.errors import ParameterError
from discreet.ledger import Ledger, MemoryLedger, SqliteLedger, Terms
from discreet.privacy import ZCDP, ApproxDP, GaussianDP, Guarantee, PureDP, Relation, gaussian_budget, largest_rho
from discreet.privacy.adaptive import root_down
from discreet.privacy.numbers import written
from discreet.query.policy.declarations import Analyst, Policy
from discreet.query.policy.toml_lines import key_in_toml
from discreet.query.policy.toml_section import Section, kind, meant, shown

Notion = TypeVar("Notion", bound=Guarantee)
NOTIONS = ("pure", "approx", "zcdp", "gaussian")
LARGEST_EPSILON = 10_000
_BUDGET_KEYS = ("notion", "epsilon", "rho", "mu", "delta", "reserve", "ledger", "anchor", "shared_answers")
_CAP_KEYS = ("share", "epsilon", "rho", "mu", "delta", "reserve")
_NOTION_LINE = 'notion = "zcdp"'
_NOTION_WHY = (
    '"zcdp" with rho and delta, "gaussian" with mu, or with epsilon and delta, "approx" with epsilon and delta, or '
    '"pure" with epsilon'
)
_OWN_NUMBER = {"zcdp": "rho", "gaussian": "mu"}  # of epsilon and delta it is computed
_DELTA_WHY = "the chance of a failure; it must be far below one in the number of people"


def concentrated(epsilon: Fraction, delta: Fraction) -> ZCDP:
    """Return a zCDP budget that keeps an (epsilon, delta) guarantee: half of delta is kept for private keys.

    Privacy. Whatever keeps the returned guarantee is (epsilon, delta)-differentially private. Its rho is the largest
    for which rho-zCDP is proven here to imply (epsilon, delta/2)-differential privacy, down to the last digits of a
    float.
        Proof: rho is that of `largest_rho`. The guarantee is delta/2-approximate: both laws are
        mixtures of weight 1 - delta/2 of laws A, A' that keep rho-zCDP, hence (epsilon, delta/2), with anything. So
        P(M in S) <= (1 - delta/2)(e^epsilon P(A' in S) + delta/2) + delta/2 <= e^epsilon P(M' in S) + delta.
    Reference. Bun, Steinke 2016, section 8.

    >>> budget = concentrated(Fraction(1), Fraction(1, 10**6))
    >>> round(float(budget.rho), 4), budget.delta
    (0.0229, Fraction(1, 2000000))
    """
    return ZCDP(largest_rho(epsilon, delta / 2), delta / 2)


def read_budget(section: Section, relation: Relation) -> Guarantee | None:
    """Return the total budget, or None where it is not well stated."""
    section.only(_BUDGET_KEYS)
    notion = _notion(section)
    if notion is None:
        if "notion" not in section and "epsilon" not in section and "rho" not in section:
            _guarantee(section, "zcdp", None)  # say which numbers are missing too, as for the notion that was proposed
        return None
    found = _guarantee(section, notion, None)
    return None if found is None else found.under(relation)


def read_analysts(section: Section, notion: str | None, budget: Guarantee | None) -> dict[str, Analyst]:
    """Return everybody who may ask, with the caps that are stated."""
    if not section.entries:
        section.complain("nobody may ask. Add a line such as `ana = {}` or `ben = {share = 0.25}`")
    found = {}
    for one in section.sections(inline=True, example="ana = {share = 0.25}"):
        name = str(one.place[-1])
        one.only(_CAP_KEYS)
        found[name] = Analyst(name, _cap(one, notion, budget))
    return found


def notion_of(section: Section) -> str | None:
    """Return the notion without complaint, None where it is not one."""
    notion = section.entries.get("notion")
    return notion if isinstance(notion, str) and notion in NOTIONS else None


def _notion(section: Section) -> str | None:
    if "notion" not in section:
        return section.missing("notion", _NOTION_LINE, _NOTION_WHY)
    notion = section.entries["notion"]
    if isinstance(notion, str) and notion in NOTIONS:
        return notion
    given = shown(notion) if isinstance(notion, str) else kind(notion)
    near = meant(notion, NOTIONS) if isinstance(notion, str) else ""
    return section.complain(
        f"{given} is not a notion of privacy. {near}Write `{_NOTION_LINE}` ({_NOTION_WHY})", "notion"
    )


def _guarantee(section: Section, notion: str, total: Guarantee | None) -> Guarantee | None:
    """Return the guarantee a budget or (with the total) a cap states in a notion, None where it is not well stated."""
    if _misplaced(section, notion):
        return None
    main = "epsilon" if "epsilon" in section else _OWN_NUMBER.get(notion, "epsilon")
    loss = _loss(section, main, notion)
    if notion == "gaussian":
        return _gaussian(section, main, loss, total)
    delta = Fraction(0) if notion == "pure" else _delta(section, main, notion, total)
    if loss is None or delta is None:
        return None
    if notion == "pure":
        return PureDP(loss)
    if notion == "approx":
        return ApproxDP(loss, delta)
    return ZCDP(loss, delta) if main == "rho" else _computed(section, "rho", lambda: concentrated(loss, delta))


def _misplaced(section: Section, notion: str) -> bool:
    """Note a number that the notion does not have, or two that say the same."""
    own = _OWN_NUMBER.get(notion, "epsilon")
    for number, of in (("rho", "zcdp"), ("mu", "gaussian"), ("reserve", "gaussian")):
        if number in section and notion != of:
            section.complain(f'{number} belongs to the notion "{of}"; with "{notion}" write `{own} = ...`', number)
            return True
    if notion == "pure" and "delta" in section:
        section.complain('the notion "pure" has no delta. Remove the line, or write `notion = "approx"`', "delta")
    elif own in section and own != "epsilon" and "epsilon" in section:
        with_delta = " (with delta)" if own == "rho" else ""
        words = (
            f"{own} and epsilon are both given. Keep {own}{with_delta}, or epsilon and delta, of which {own} is "
            "computed"
        )
        section.complain(words, "epsilon")
    elif notion == "gaussian" and "mu" in section and "delta" in section:
        words = "mu has no delta. Remove the line, or write `reserve = 1e-7` for keys that are not public"
        section.complain(words, "delta")
    else:
        return False
    return True


def _gaussian(section: Section, main: str, loss: Fraction | None, total: Guarantee | None) -> GaussianDP | None:
    """Return a Gaussian budget or cap: mu, or the largest mu that (epsilon, delta) allows, and the reserve of delta."""
    delta = _delta(section, main, "gaussian", None) if main == "epsilon" else Fraction(0)
    reserve = _reserve(section, total)
    if loss is None or delta is None or reserve is None:
        return None
    if main == "mu":
        return GaussianDP(loss, reserve)
    if reserve >= delta:
        words = (
            f"the reserve, {float(reserve):g}, must be less than delta, of which it is a part. Write a smaller reserve"
        )
        return section.complain(words, "reserve" if "reserve" in section else "delta")
    return _computed(section, "mu", lambda: gaussian_budget(epsilon=loss, delta=delta, reserve=reserve))


def _reserve(section: Section, total: Guarantee | None) -> Fraction | None:
    """Return the delta set apart for private keys: 0 if left out, and that of the total for a cap."""
    if "reserve" not in section:
        return Fraction(0) if total is None else Fraction(getattr(total, "delta", 0))
    value = section.number("reserve")
    if value is not None and not 0 <= value < 1:
        return section.complain("must be at least 0 and less than 1. Write, for example, `reserve = 1e-7`", "reserve")
    return value


def _computed(section: Section, number: str, make: Callable[[], Notion]) -> Notion | None:
    """Return a budget in a number that is computed from epsilon and delta; note where they allow none."""
    try:
        return make()
    except ParameterError as problem:
        return section.complain(f"{problem}, or write {number}", "epsilon")


def _loss(section: Section, key: str, notion: str) -> Fraction | None:
    """Return epsilon, rho or mu, which is never defaulted."""
    if key not in section:
        own = _OWN_NUMBER.get(notion)
        other = f", or state epsilon and delta, of which {own} is computed" if own else ""
        return section.missing(
            key, f"{key} = ...", f"how much may be learned about one unit in all: your decision{other}"
        )
    value = section.number(key)
    if value is not None and value <= 0:
        return section.complain(
            f"must be greater than 0: nothing could be asked. Write, for example, `{key} = 0.5`", key
        )
    if value is not None and value > LARGEST_EPSILON:
        return section.complain(f"must be at most {LARGEST_EPSILON}: more protects nobody. Write a smaller {key}", key)
    return value


def _delta(section: Section, main: str, notion: str, total: Guarantee | None) -> Fraction | None:
    """Return delta; a cap that leaves it out is held by the total alone, a budget must state it."""
    of_total = getattr(total, "delta", None)
    if "delta" not in section:
        if of_total is not None and not (notion in _OWN_NUMBER and main == "epsilon"):
            return Fraction(of_total)
        none = "; 0 if no query may group by private keys" if main == "rho" else ""
        return section.missing("delta", "delta = ...", f"{_DELTA_WHY}, such as 1e-7{none}")
    value = section.number("delta")
    if value is not None and not 0 <= value < 1:
        return section.complain("must be at least 0 and less than 1. Write, for example, `delta = 1e-7`", "delta")
    if value == 0 and total is None and main == "epsilon":
        words = 'must be greater than 0. Write, for example, `delta = 1e-7`, or `notion = "pure"` without a delta'
        return section.complain(words, "delta")
    return value


def _cap(section: Section, notion: str | None, budget: Guarantee | None) -> Guarantee | None:
    """Return the cap of an analyst, None where none is stated."""
    stated = [key for key in ("share", "epsilon", "rho", "mu") if key in section]
    share = _share(section)
    name = key_in_toml(section.place[-1])
    if len(stated) > 1 or ("share" in stated and ("delta" in section or "reserve" in section)):
        section.complain(
            "states more than one cap. Keep share alone, or epsilon (with delta), or rho (with delta), or mu"
        )
    elif not stated and section.entries:
        section.complain(f"states no cap. Write `{name} = {{}}` for none, or `{name} = {{share = 0.25}}`")
    elif stated and notion is not None and budget is not None:
        if "share" in stated:
            return None if share is None else _part(budget, share)
        cap = _guarantee(section, notion, budget)
        if cap is None or not _exceeds(cap, budget):
            return None if cap is None else cap.under(budget.relation)
        section.complain(f"the cap is larger than the budget. Write a smaller one, or `{name} = {{}}` for none")
    return None


def _share(section: Section) -> Fraction | None:
    share = section.number("share")
    if share is not None and not 0 < share <= 1:
        return section.complain("must be greater than 0 and at most 1. Write, for example, `share = 0.25`", "share")
    return share


def _part(budget: Guarantee, share: Fraction) -> Guarantee | None:
    """Return a share of every number of a budget; of a Gaussian one, of mu squared, which is what adds up."""
    match budget:
        case PureDP():
            return PureDP(share * Fraction(budget.epsilon), relation=budget.relation)
        case ApproxDP():
            delta = share * Fraction(budget.delta)
            return ApproxDP(share * Fraction(budget.epsilon), delta, relation=budget.relation)
        case ZCDP():
            return ZCDP(share * Fraction(budget.rho), share * Fraction(budget.delta), relation=budget.relation)
        case GaussianDP():
            mu = root_down(share * written(budget.mu) ** 2)
            return GaussianDP(mu, share * Fraction(budget.delta), relation=budget.relation)
    return None


def _exceeds(cap: Guarantee, budget: Guarantee) -> bool:
    def parts(guarantee: Guarantee) -> list[Fraction]:
        return [Fraction(getattr(guarantee, name, 0)) for name in ("epsilon", "rho", "mu", "delta")]

    return any(one > whole for one, whole in zip(parts(cap), parts(budget), strict=True))


def terms_of(policy: Policy) -> Terms:
    """Return the terms under which a policy's ledger is opened."""
    caps = {name: None if one.cap is None else one.cap.under(policy.relation) for name, one in policy.analysts.items()}
    return Terms(
        lineage=policy.lineage,
        unit=policy.unit,
        budget=policy.budget.under(policy.relation),
        caps=caps,
        shared_answers=policy.shared_answers,
    )


def open_ledger(policy: Policy) -> Ledger:
    """Open the ledger that the policy names, or one in memory."""
    if policy.ledger is None:
        return MemoryLedger(terms_of(policy))
    return SqliteLedger.open(policy.ledger, terms_of(policy), anchor=policy.anchor)
