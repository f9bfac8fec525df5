"""Plots in one house style, drawn only when asked for: answers with intervals, laws of a mechanism, certified bands.

Nothing here goes through matplotlib's global figure or style: a plot drawn in a server thread opens no window and
changes nobody else's plots.
"""

from __future__ import annotations

import io
import textwrap
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypedDict, Unpack, cast

import numpy as np
import numpy.typing as npt

from discreet._optional import optional
from discreet.display.files import write_whole
from discreet.display.formatting import format_number
from discreet.display.safe_text import visible
from discreet.errors import ParameterError

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.axis import Axis
    from matplotlib.figure import Figure

# Okabe and Ito's palette: told apart with every common form of color blindness, and in gray.
BLUE, ORANGE, GREEN, INK, SOFT = "#0072B2", "#D55E00", "#009E73", "#1d2327", "#5c6670"
_LABEL_SIZE, _TITLE_SIZE = 11.0, 12.5
_LABEL_WIDTH, _TITLE_LETTERS_AN_INCH = 24, 8.5
_LONGEST_LABEL = 200  # letters
_MOST_STEMS = 60

# matplotlib reads the salt of SVG identifiers from a global setting; two threads must not change it at once.
_svg_lock = threading.Lock()


class Words(TypedDict, total=False):
    """The words on a plot: a title, the labels of its axes, and the two names of its legend."""

    title: str
    x_label: str
    y_label: str
    names: tuple[str, str]


@dataclass(frozen=True)
class Plot:
    """A drawn figure that a notebook shows by itself and that can be saved; `figure` is matplotlib's own object."""

    figure: Figure

    def svg(self) -> str:
        """Return the drawing as SVG text."""
        return figure_svg(self.figure)

    def save(self, path: str | Path) -> Path:
        """Write the drawing to a file whose suffix names the format, and return its path."""
        return save(self.figure, path)

    def _repr_svg_(self) -> str:
        """Return the drawing for a notebook."""
        return self.svg()


def axes(*, title: str = "", x_label: str = "", y_label: str = "", width: float = 7.0, height: float = 4.2) -> Axes:
    """Return empty axes in the house style, on a figure of their own (sizes in inches).

    >>> axes(x_label="people").get_xlabel()
    'people'

    Raises:
        MissingExtra: matplotlib is not installed.
    """
    figure_class = optional("matplotlib.figure", extra="plot", purpose="drawing a plot").Figure
    figure: Figure = figure_class(figsize=(width, height), dpi=120, facecolor="white")
    figure.set_layout_engine("constrained", w_pad=0.14, h_pad=0.09)
    if title:
        wrapped = textwrap.fill(visible(" ".join(title.splitlines())), int(width * _TITLE_LETTERS_AN_INCH))
        drawn_title = figure.suptitle(wrapped, x=0.02, horizontalalignment="left", parse_math=False)
        drawn_title.set(fontsize=_TITLE_SIZE, color=INK, fontweight="bold")
    return styled(figure.add_subplot(facecolor="white"), x_label=x_label, y_label=y_label)


def styled(drawn: Axes, *, x_label: str, y_label: str) -> Axes:
    """Give axes the house style: two quiet sides, and labels drawn as they are given."""
    for side in ("top", "right"):
        drawn.spines[side].set_visible(False)
    for side in ("left", "bottom"):
        drawn.spines[side].set(color=SOFT, linewidth=0.8)
    drawn.tick_params(colors=SOFT, labelcolor=INK, labelsize=_LABEL_SIZE, width=0.8)
    # a dollar sign in a label does not start a formula
    drawn.set_xlabel(visible(x_label), fontsize=_LABEL_SIZE, color=INK, parse_math=False)
    drawn.set_ylabel(visible(y_label), fontsize=_LABEL_SIZE, color=INK, parse_math=False)
    return drawn


def shown_labels(labels: Sequence[object], *, longest: int = _LONGEST_LABEL) -> list[str]:
    r"""Return labels as an axis bears them: what cannot be printed as escapes, and the start of a long one.

    >>> print(shown_labels(["a\x1bb"])[0])
    a\x1bb
    """
    texts = [visible(str(label)[: longest + 1]) for label in labels]
    return [one if len(one) <= longest else f"{one[:longest]}..." for one in texts]


def plotted(drawn: Axes) -> Plot:
    """Return what was drawn."""
    return Plot(cast("Figure", drawn.figure))


def explained(drawn: Axes, **look: Any) -> Plot:
    """Return what was drawn with a legend below it; `look` is what the legend has besides, such as its columns."""
    plot = plotted(drawn)
    plot.figure.legend(**{"loc": "outside lower center", "frameon": False, "labelcolor": INK, **look})
    return plot


def plot_interval(
    labels: Sequence[str],
    values: npt.ArrayLike,
    lows: npt.ArrayLike,
    highs: npt.ArrayLike,
    *,
    truth: npt.ArrayLike | None = None,
    **words: Unpack[Words],
) -> Plot:
    """Draw one dot with its interval a label, the first on top, and the true values if they may be shown.

    >>> plot_interval(
    ...     ["surgery", "maternity"], [120, 85], [113, 78], [127, 92], x_label="people"
    ... ).svg()[:5]
    '<?xml'
    """
    middle, low, high = _columns(len(labels), values=values, lows=lows, highs=highs)
    if np.any(low > middle) or np.any(middle > high):
        raise ParameterError("every interval must contain its value: lows <= values <= highs", parameter="lows")
    rows = np.arange(len(middle))
    names = words.get("names", ("private answer and its interval", "true value"))
    drawn = _axes(words, height=max(2.6, 1.5 + 0.46 * len(rows)))
    reach = np.stack([middle - low, high - middle])
    drawn.errorbar(middle, rows, xerr=reach, fmt="o", color=BLUE, markersize=6, linewidth=2, capsize=4, label=names[0])
    if truth is not None:
        (true,) = _columns(len(labels), truth=truth)
        drawn.plot(true, rows, "|", color=ORANGE, markersize=17, markeredgewidth=2.2, label=names[1])
    drawn.set_yticks(rows, [textwrap.fill(one, _LABEL_WIDTH) for one in shown_labels(labels)], parse_math=False)
    drawn.set_ylim(len(rows) - 0.4, -0.6)
    drawn.tick_params(axis="y", length=0)
    drawn.grid(axis="x", color=SOFT, alpha=0.2, linewidth=0.8)
    _group_digits(drawn.xaxis)
    if truth is not None:
        _legend(drawn, names)
    return plotted(drawn)


def plot_law(
    x: npt.ArrayLike,
    pmf: npt.ArrayLike,
    *,
    other: npt.ArrayLike | None = None,
    **words: Unpack[Words],
) -> Plot:
    """Draw a discrete law as stems (few outputs) or steps (many), with the law on a neighboring table over it.

    >>> plot_law(
    ...     [0, 1], [0.75, 0.25], other=[0.25, 0.75], title="Randomized response"
    ... ).svg()[:5]
    '<?xml'
    """
    place, mass = _columns(np.size(x), x=x, pmf=pmf)
    names = words.get("names", ("on the table", "on a neighbor"))
    laws = [(mass, BLUE, names[0], "o")]
    if other is not None:
        laws.append((_columns(len(place), other=other)[0], ORANGE, names[1], "D"))
    drawn = _axes({"x_label": "output", "y_label": "probability", **words})
    spread = 0.14 if len(laws) > 1 else 0.0
    for side, (height, color, name, marker) in enumerate(laws):
        if len(place) > _MOST_STEMS:
            drawn.step(place, height, where="mid", color=color, linewidth=1.8, label=name)
            drawn.fill_between(place, height, step="mid", color=color, alpha=0.13, linewidth=0)
            continue
        # neighboring stems stand side by side, so that neither hides the other
        shifted = place + spread * (2 * side - 1) * _least_gap(place)
        drawn.vlines(shifted, 0.0, height, color=color, linewidth=2)
        drawn.plot(shifted, height, marker, color=color, markersize=5, label=name)
    drawn.set_ylim(bottom=0.0)
    drawn.margins(x=0.02)
    _group_digits(drawn.xaxis)
    if other is not None:
        _legend(drawn, names)
    return plotted(drawn)


def plot_curve(
    x: npt.ArrayLike,
    lower: npt.ArrayLike,
    upper: npt.ArrayLike,
    *,
    estimate: npt.ArrayLike | None = None,
    log_y: bool = False,
    **words: Unpack[Words],
) -> Plot:
    """Draw the band between two bounds of a curve, and the estimate inside it; on a logarithmic axis if asked.

    >>> plot_curve(
    ...     [0, 1, 2],
    ...     [1.0, 0.3, 0.1],
    ...     [1.0, 0.4, 0.2],
    ...     x_label="epsilon",
    ...     y_label="delta",
    ... ).svg()[:5]
    '<?xml'
    """
    place, low, high = _columns(np.size(x), x=x, lower=lower, upper=upper)
    if np.any(low > high):
        raise ParameterError("lower must be at most upper everywhere", parameter="lower")
    names = words.get("names", ("certified band", "estimate"))
    drawn = _axes(words)
    drawn.fill_between(place, low, high, color=BLUE, alpha=0.25, linewidth=0, label=names[0])
    # a band thinner than a pixel would vanish, so its edges are drawn too
    for edge in (low, high):
        drawn.plot(place, edge, color=BLUE, linewidth=1.0)
    if estimate is not None:
        drawn.plot(place, _columns(len(place), estimate=estimate)[0], color=ORANGE, linewidth=2, label=names[1])
        _legend(drawn, names)
    drawn.grid(color=SOFT, alpha=0.2, linewidth=0.8)
    drawn.margins(x=0.01)
    if log_y:
        drawn.set_yscale("log")
    return plotted(drawn)


def plot_paths(
    x: npt.ArrayLike,
    paths: npt.ArrayLike,
    *,
    mean: npt.ArrayLike,
    lines: Mapping[str, tuple[npt.ArrayLike, npt.ArrayLike]],
    **words: Unpack[Words],
) -> Plot:
    """Draw many thin paths, their mean, and at most two named lines over them.

    >>> plot_paths(
    ...     [1, 2], [[0, 1], [1, 1]], mean=[0.5, 1], lines={"bound": ([1, 2], [1, 2])}
    ... ).svg()[:5]
    '<?xml'
    """
    place, middle = _columns(np.size(x), x=x, mean=mean)
    names = words.get("names", ("one path", "mean"))
    drawn = _axes(words)
    for index, path in enumerate(np.atleast_2d(np.asarray(paths, dtype=float))):
        (height,) = _columns(len(place), paths=path)
        label = names[0] if index == 0 else None
        drawn.plot(place, height, color=SOFT, alpha=0.35, linewidth=0.8, label=label)
    drawn.plot(place, middle, color=INK, linewidth=2, linestyle="--", label=names[1])
    for (name, (where, bound)), color in zip(lines.items(), (ORANGE, BLUE), strict=False):
        at, height = _columns(np.size(where), where=where, bound=bound)
        drawn.plot(at, height, color=color, linewidth=2.2, label=name)
    drawn.grid(color=SOFT, alpha=0.2, linewidth=0.8)
    drawn.margins(x=0.01)
    _group_digits(drawn.xaxis)
    _legend(drawn, (*names, *lines))
    return Plot(cast("Figure", drawn.figure))


def figure_svg(figure: Figure) -> str:
    """Return a figure as SVG text: the same bytes for the same figure, text as outlines, no outside font."""
    matplotlib = optional("matplotlib", extra="plot", purpose="drawing a plot")
    buffer = io.StringIO()
    with _svg_lock, matplotlib.rc_context({"svg.hashsalt": "discreet", "svg.fonttype": "path"}):
        figure.savefig(buffer, format="svg", metadata=dict.fromkeys(("Creator", "Date", "Format", "Type")))
    return buffer.getvalue()


def save(figure: Figure, path: str | Path) -> Path:
    """Write a figure to a file whose suffix names the format (.svg, .png, .pdf), and return its path."""
    target = Path(path)
    if target.suffix == ".svg":
        return write_whole(target, figure_svg(figure).encode("utf-8"))
    if target.suffix in {".png", ".pdf"}:
        buffer = io.BytesIO()
        figure.savefig(buffer, format=target.suffix[1:], dpi=150)
        return write_whole(target, buffer.getvalue())
    raise ParameterError(f"the file name must end in .svg, .png or .pdf, got {target.name!r}", parameter="path")


def _axes(words: Words, *, height: float = 4.2) -> Axes:
    """Return axes that carry the words given."""
    title, x_label, y_label = words.get("title", ""), words.get("x_label", ""), words.get("y_label", "")
    return axes(title=title, x_label=x_label, y_label=y_label, height=height)


def _columns(length: int, **columns: npt.ArrayLike) -> list[npt.NDArray[np.float64]]:
    """Return the columns as floats; raise ParameterError if they cannot be drawn together."""
    names, arrays = ", ".join(columns), [np.asarray(values, dtype=float) for values in columns.values()]
    if length == 0 or any(array.shape != (length,) for array in arrays):
        raise ParameterError(f"{names} must be non-empty and equally long", parameter=names)
    if not all(np.isfinite(array).all() for array in arrays):
        raise ParameterError(f"{names} must be finite to be drawn", parameter=names)
    return arrays


def _least_gap(place: npt.NDArray[np.float64]) -> float:
    """Return the least distance between two outputs, or 1 when there is only one."""
    return float(np.diff(np.sort(place)).min(initial=np.inf)) if len(place) > 1 else 1.0


def _group_digits(axis: Axis) -> None:
    """Write 12,000 rather than 1.2e4 with an offset in the corner."""
    ticker = optional("matplotlib.ticker", extra="plot", purpose="drawing a plot")
    axis.set_major_formatter(ticker.FuncFormatter(lambda value, _: format_number(round(value, 9))))


def _legend(drawn: Axes, names: tuple[str, ...]) -> None:
    """Put the legend under the axes, where it can hide nothing, in the order in which the names were given."""
    figure = cast("Figure", drawn.figure)
    handles = dict(zip(*reversed(drawn.get_legend_handles_labels()), strict=True))
    legend = figure.legend(
        [handles[name] for name in names],
        names,
        loc="outside lower center",
        ncols=2,
        frameon=False,
        fontsize=_LABEL_SIZE,
        labelcolor=INK,
    )
    for text in legend.get_texts():
        text.set_parse_math(False)
