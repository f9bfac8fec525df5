"""Draw the figures of docs/_static that show experiments: attacks, audits, releases; seeded but for the noise."""

from __future__ import annotations

import argparse
import sys
from importlib import import_module
from pathlib import Path

from discreet.display.plots import Plot
from tools.figures.catalog import FOLDER, ROOT

# figure: (module of tools.figures, function)
EXPERIMENTS = {
    "linkage": ("attacks.linkage", "linkage"),
    "ratings": ("attacks.linkage", "identification"),
    "anonymity": ("attacks.linkage", "anonymity"),
    "fourier": ("attacks.fourier", "fourier_attack"),
    "robust_fourier": ("attacks.fourier", "robust_fourier_attack"),
    "decoders": ("attacks.decoders", "decoders"),
    "marginals": ("attacks.decoders", "marginals"),
    "census": ("attacks.decoders", "census"),
    "differencing": ("attacks.differencing", "differences"),
    "averaging": ("attacks.averaging", "averaged"),
    "membership": ("attacks.membership", "membership_curves"),
    "model-inversion": ("attacks.models", "inversion"),
    "model-membership": ("attacks.models", "shadows"),
    "model-canaries": ("attacks.models", "canaries"),
    "model-text": ("attacks.models", "text"),
    "fundamental-law-map": ("attacks.map", "fundamental_law_map"),
    "synthesis-error": ("synthesis", "synthesis_error"),
    "learning-digits": ("learning.estimators", "learning_digits"),
    "learning-education": ("learning.estimators", "learning_education"),
    "learning-generalization": ("learning.estimators", "learning_generalization"),
    "learning-holdout": ("learning.estimators", "learning_holdout"),
    "deep-glyphs": ("learning.networks", "glyphs_against_epsilon"),
}


def draw(name: str) -> Plot:
    """Run the experiment of a figure and draw it."""
    module, function = EXPERIMENTS[name]
    plot: Plot = getattr(import_module(f"tools.figures.{module}"), function)()
    return plot


def main(arguments: list[str] | None = None) -> int:
    """Draw all, or those that are named."""
    parser = argparse.ArgumentParser(prog="python -m tools.figures.experiments", description=__doc__)
    parser.add_argument("names", nargs="*", choices=[*EXPERIMENTS, []], help="figures; all if none is named")
    parser.add_argument("--folder", type=Path, default=ROOT / FOLDER, help="where to write")
    parser.add_argument("--png", action="store_true", help="write every figure as PNG too, to look at")
    options = parser.parse_args(arguments)
    options.folder.mkdir(parents=True, exist_ok=True)
    for name in options.names or EXPERIMENTS:
        plot = draw(name)
        print(plot.save(options.folder / f"{name}.svg").name, flush=True)
        if options.png:
            plot.save(options.folder / f"{name}.png")
    return 0


if __name__ == "__main__":
    sys.exit(main())
