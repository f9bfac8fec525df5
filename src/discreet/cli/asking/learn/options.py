"""What `train` and `explain` share: which model, of which columns, at what price; and files of models."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import click

from discreet._optional import optional
from discreet.cli import options
from discreet.cli.console import Refusal
from discreet.errors import InputError
from discreet.query import Session

optional("sklearn", extra="learn", purpose="discreet learn")

from discreet import learning  # noqa: E402  the line above says what to install where it is missing
from discreet.learning.base import PreparedFit, PrivateEstimator, prepared_fit  # noqa: E402

_MOST_PEOPLE = 1 << 40  # as estimators have it
_MOST_DIGITS = 300
PRICE = ("epsilon", "delta", "rho", "mu", "share")
_MADE = {name: getattr(learning, name) for name in learning.__all__}
ESTIMATORS = {name: one for name, one in _MADE.items() if isinstance(one, type) and issubclass(one, PrivateEstimator)}
price_options = options.decorated(
    [
        options.number_option("--epsilon", words="Price: epsilon, alone where there is a pure form."),
        options.number_option("--delta", words="With --epsilon: the delta, far below one over the people."),
        options.number_option("--rho", words="Price: rho, under a zCDP or a Gaussian budget."),
        options.number_option("--mu", words="Price: mu, under a Gaussian or a zCDP budget."),
        options.number_option("--share", words="Price: a part of the budget, such as 0.5."),
    ]
)
fit_options = options.decorated(
    [
        click.argument("table"),
        options.policy_option(),
        options.analyst_option(),
        click.option("--feature", "features", multiple=True, required=True, help="A column to learn from; repeat it."),
        click.option("--target", help="The column to be predicted."),
        options.stated("--estimator", click.Choice(list(ESTIMATORS)), "LogisticRegression", "The model."),
        click.option(
            "--set", "settings", multiple=True, metavar="NAME=VALUE",
            help="A parameter of the model, the value in JSON: bins=8, max_depth=3.",
        ),
        price_options,
        click.option("--people", type=click.IntRange(1, _MOST_PEOPLE), help="About how many rows; public, not counted"),
    ]
)  # fmt: skip


def prepared(session: Session, table: str, asked: dict[str, Any]) -> PreparedFit:
    """Return the fit that the options ask for; nothing is charged."""
    price = {name: asked[name] for name in PRICE}
    model = ESTIMATORS[asked["estimator"]](**_settings(asked["estimator"], asked["settings"]))
    return prepared_fit(
        model, session, table, list(asked["features"]), asked["target"], people=asked["people"], **price
    )


def _settings(estimator: str, written: tuple[str, ...]) -> dict[str, Any]:
    """Read NAME=VALUE; a price, the relation and people have options or a policy of their own."""
    own = {*PRICE, "relation", "people"}
    known = [name for name in ESTIMATORS[estimator]().get_params(deep=False) if name not in own]
    found: dict[str, Any] = {}
    for one in written:
        name, _, value = one.partition("=")
        if name not in known:
            raise Refusal(f"--set: {estimator} has no parameter {name[:40]!r}; it has {', '.join(known)}")
        try:
            found[name] = json.loads(value, parse_int=_whole)
        except (ValueError, RecursionError):
            raise Refusal(
                f"--set: the value of {name} must be written in JSON, such as {name}=8, at most {_MOST_DIGITS} digits"
            ) from None
    return found


def _whole(digits: str) -> int:
    """Return a whole number that a float can be made of."""
    if len(digits) > _MOST_DIGITS:
        raise ValueError("too long")
    return int(digits)


def read_model(path: Path) -> Any:
    """Return the model of a file."""
    try:
        return learning.load_model(path)
    except OSError as problem:
        raise Refusal(f"cannot read {path}: {problem.strerror}") from None
    except InputError as problem:
        raise Refusal(f"{path}: {problem}") from None
