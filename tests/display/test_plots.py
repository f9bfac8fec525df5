"""Plots show what they are given, hide nothing, and leave matplotlib as they found it."""

from __future__ import annotations

import subprocess
import sys
from itertools import pairwise
from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np
import pytest

from discreet.display import plots
from discreet.errors import MissingExtra, ParameterError

X = np.arange(-5, 7)
PMF = np.exp(-0.5 * np.abs(X)) * (1 - np.exp(-0.5)) / (1 + np.exp(-0.5))
NEIGHBOR = np.exp(-0.5 * np.abs(X - 1)) * (1 - np.exp(-0.5)) / (1 + np.exp(-0.5))
LABELS = ["surgery", "an unusually long ward name that has to be broken", "maternity"]


def interval_plot() -> plots.Plot:
    values = np.array([12000, 40, 7])
    return plots.plot_interval(
        LABELS, values, values - 9, values + 9, truth=[11995, 44, 6], title="Wards " * 12, x_label="people"
    )


def every_plot() -> dict[str, plots.Plot]:
    curve = np.exp(-np.linspace(0, 4, 30))
    return {
        "interval": interval_plot(),
        "stems": plots.plot_law(X, PMF, other=NEIGHBOR, title="A law and its neighbor"),
        "steps": plots.plot_law(np.arange(100), np.full(100, 0.01), other=np.full(100, 0.01)),
        "curve": plots.plot_curve(np.arange(30), curve * 0.9, curve, estimate=curve * 0.95, x_label="x", y_label="y"),
    }


@pytest.mark.parametrize("name", ["interval", "stems", "steps", "curve"])
def test_no_text_is_clipped_and_no_tick_labels_overlap(name: str) -> None:
    figure = every_plot()[name].figure
    figure.draw_without_rendering()
    (drawn,) = figure.axes
    ticks = {axis: shown_labels(axis) for axis in (drawn.xaxis, drawn.yaxis)}
    texts = [drawn.xaxis.label, drawn.yaxis.label, *figure.texts, *(figure.legends and figure.legends[0].get_texts())]
    for text in [*texts, *ticks[drawn.xaxis], *ticks[drawn.yaxis]]:
        box = text.get_window_extent()
        assert figure.bbox.x0 <= box.x0, text
        assert box.x1 <= figure.bbox.x1, text
        assert figure.bbox.y0 <= box.y0, text
        assert box.y1 <= figure.bbox.y1, text
    for labels in ticks.values():
        boxes = [label.get_window_extent() for label in labels]
        assert len(boxes) > 1
        assert not any(one.overlaps(two) for one, two in pairwise(boxes))


def shown_labels(axis: Any) -> list[Any]:
    low, high = sorted(axis.get_view_interval())
    return [tick.label1 for tick in axis.get_major_ticks() if low <= tick.get_loc() <= high]


def test_intervals_stand_where_they_were_put_first_label_on_top() -> None:
    drawn = interval_plot().figure.axes[0]
    (dots, _, (bars,)) = drawn.containers[0]
    assert dots.get_xdata().tolist() == [12000, 40, 7]
    assert [segment[:, 0].tolist() for segment in bars.get_segments()] == [[11991, 12009], [31, 49], [-2, 16]]
    low, high = drawn.get_ylim()
    assert low > high


def test_large_numbers_are_written_in_full_on_the_axis() -> None:
    plot = interval_plot()
    plot.svg()
    labels = [label.get_text() for label in plot.figure.axes[0].get_xticklabels()]
    assert "10,000" in labels


def test_the_same_plot_gives_the_same_svg_with_nothing_fetched() -> None:
    one, two = interval_plot().svg(), interval_plot()._repr_svg_()
    assert one == two
    assert "<image" not in one
    assert "@import" not in one


FORMULA = r"$\frac$ and $5 to $10"


@pytest.mark.parametrize("name", ["interval", "stems", "curve"])
def test_text_from_outside_is_drawn_as_it_is_given_and_never_read_as_a_formula(name: str) -> None:
    words: Any = {"title": FORMULA, "x_label": FORMULA, "y_label": FORMULA, "names": (FORMULA, "$x$")}
    plot = {
        "interval": lambda: plots.plot_interval([FORMULA, "$x$"], [1, 2], [0, 1], [2, 3], truth=[1, 2], **words),
        "stems": lambda: plots.plot_law(X, PMF, other=NEIGHBOR, **words),
        "curve": lambda: plots.plot_curve([0, 1], [0, 0], [1, 1], estimate=[0.5, 0.5], **words),
    }[name]()
    assert plot.svg().startswith("<?xml")
    (drawn,), (legend,) = plot.figure.axes, plot.figure.legends
    texts = [drawn.xaxis.label, drawn.yaxis.label, *plot.figure.texts, *legend.get_texts()]
    texts += drawn.get_yticklabels() if name == "interval" else []
    assert sum("$" in text.get_text() for text in texts) >= 5
    assert not any(text.get_parse_math() for text in texts)


def test_neighboring_stems_do_not_hide_each_other() -> None:
    lines = plots.plot_law(X, PMF, other=NEIGHBOR).figure.axes[0].get_lines()
    first, second = (line.get_xdata() for line in lines)
    assert np.all(first < second)
    assert np.all(second - first < 1)


def test_a_band_thinner_than_a_pixel_is_still_drawn() -> None:
    drawn = plots.plot_curve([0, 1], [1, 2], [1, 2]).figure.axes[0]
    assert len(drawn.get_lines()) == 2


def test_plotting_changes_no_global_setting_and_opens_no_figure() -> None:
    before = dict(mpl.rcParams)
    for plot in every_plot().values():
        plot.svg()
    assert dict(mpl.rcParams) == before
    assert "matplotlib.pyplot" not in sys.modules or not sys.modules["matplotlib.pyplot"].get_fignums()


def test_a_dark_global_style_does_not_reach_our_plots() -> None:
    with mpl.rc_context({"axes.facecolor": "black", "figure.facecolor": "black", "text.color": "white"}):
        figure = interval_plot().figure
    assert figure.get_facecolor() == (1.0, 1.0, 1.0, 1.0)
    assert figure.axes[0].get_facecolor() == (1.0, 1.0, 1.0, 1.0)


@pytest.mark.parametrize("suffix", [".svg", ".png", ".pdf"])
def test_saving_writes_the_format_the_suffix_names(tmp_path: Path, suffix: str) -> None:
    path = interval_plot().save(tmp_path / f"wards{suffix}")
    starts = {".svg": b"<?xml", ".png": b"\x89PNG", ".pdf": b"%PDF"}
    assert path.read_bytes().startswith(starts[suffix])


def test_an_unknown_suffix_is_refused_before_anything_is_written(tmp_path: Path) -> None:
    with pytest.raises(ParameterError, match=r"\.svg, \.png or \.pdf"):
        interval_plot().save(tmp_path / "wards.doc")
    assert not list(tmp_path.iterdir())


def test_what_cannot_be_drawn_is_refused() -> None:
    with pytest.raises(ParameterError, match="equally long"):
        plots.plot_interval(["a"], [1, 2], [0, 0], [3, 3])
    with pytest.raises(ParameterError, match="equally long"):
        plots.plot_law([], [])
    with pytest.raises(ParameterError, match="equally long"):
        plots.plot_law([0, 1], [0.5, 0.5], other=[1.0])
    with pytest.raises(ParameterError, match="finite"):
        plots.plot_curve([0, 1], [0, 0], [np.inf, 1])
    with pytest.raises(ParameterError, match="contain its value"):
        plots.plot_interval(["a"], [1], [2], [3])
    with pytest.raises(ParameterError, match="at most upper"):
        plots.plot_curve([0], [2], [1])


def test_without_matplotlib_the_error_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    with pytest.raises(MissingExtra, match=r"discreet\[plot\]"):
        plots.axes()


def test_importing_the_room_does_not_import_matplotlib() -> None:
    program = "import sys, discreet.display.plots; sys.exit('matplotlib' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", program], check=False).returncode == 0  # noqa: S603 (our own program)
