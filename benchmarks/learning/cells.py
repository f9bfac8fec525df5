"""The comparisons of the learning benchmark as data: tables, models, bars, and the peers that stand beside each."""

from __future__ import annotations

from dataclasses import dataclass

EPSILONS = (0.1, 1.0, 10.0)
SEEDS = 20
_TREES = ("GaussianNB", "RandomForestClassifier", "DecisionTreeClassifier")
_CLASSIFIERS = ("LogisticRegression", "LogisticRegression, C 0.01", *_TREES)


@dataclass(frozen=True)
class Cell:
    """One of our models on one table, its bars for the three epsilons, and the models of the peers."""

    part: str
    table: str
    score: str
    model: str
    bars: tuple[float | None, float | None, float | None] = (None, None, None)
    diffprivlib: tuple[str, ...] = ()
    interpret: tuple[str, ...] = ()
    beside: tuple[str, ...] = ()  # models of our own that are shown and not compared

    def __str__(self) -> str:
        return f"{self.table}, {self.model}, {self.score}"


def _named(table: str) -> tuple[Cell, ...]:
    """Return the models that have one name here and in diffprivlib, on one table."""
    return tuple(Cell("named", table, "accuracy", name, diffprivlib=(name,)) for name in _TREES)


CELLS = (
    Cell(
        "classification", "breast_cancer", "accuracy", "LogisticRegression", (None, 0.945, 0.962),
        _CLASSIFIERS, ("DP-EBM",), ("NearestCentroid",),
    ),
    Cell(
        "classification", "wine", "accuracy", "LogisticRegression", (None, 0.89, 0.955),
        _CLASSIFIERS, ("DP-EBM",), ("NearestCentroid",),
    ),
    Cell(
        "classification", "digits", "accuracy", "LogisticRegression", (0.32, 0.88, 0.948),
        _CLASSIFIERS, ("DP-EBM",), ("NearestCentroid",),
    ),
    Cell(
        "classification", "exclusive or", "accuracy", "LogisticRegression on FourierFeatures", (0.78, 0.86, 0.89),
        _CLASSIFIERS, ("DP-EBM",), ("LogisticRegression",),
    ),
    Cell(
        "census", "Adult", "accuracy", "AdditiveClassifier", (0.840, 0.857, 0.860),
        _CLASSIFIERS, ("DP-EBM",), ("LogisticRegression",),
    ),
    Cell("census", "Adult", "accuracy", "CategoricalNB in SQL", (0.83, 0.825, 0.825), ("GaussianNB",)),
    Cell(
        "regression", "diabetes", "R2", "LinearRegression", (-0.05, 0.39, 0.475),
        ("LinearRegression",), ("DP-EBM regressor",), ("AdaSSP", "AdditiveRegressor"),
    ),
    Cell(
        "regression", "made-up regression", "R2", "LinearRegression", (0.80, 0.885, 0.89),
        ("LinearRegression",), ("DP-EBM regressor",), ("AdaSSP", "Ridge"),
    ),
    Cell(
        "regression", "diabetes", "R2", "Ridge", (None, 0.30, 0.48),
        ("LinearRegression",), ("DP-EBM regressor",), ("AdaSSP",),
    ),
    Cell("components", "digits", "variance", "PCA", (0.23, 0.66, 0.73), ("PCA",)),
    Cell("clusters", "digits", "ARI", "KMeans", (None, 0.38, 0.55), ("KMeans",)),
    *_named("breast_cancer"),
    *_named("wine"),
    *_named("digits"),
)  # fmt: skip
