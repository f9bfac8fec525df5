"""One reader of frames: tables and columns of numpy, pandas, Polars, Arrow and lists, and results as frames."""

from discreet._optional import listing
from discreet.frames.cells import ALL, Type
from discreet.frames.column import ColumnKind, FrameColumn, frame_library
from discreet.frames.declared import identities, typed
from discreet.frames.frame import AnyFrame, Frame
from discreet.frames.keys import Typed, key_form, key_values, listed_keys, present
from discreet.frames.numeric import held_by_numpy, is_large, numbers, truths
from discreet.frames.output import to_arrow, to_pandas, to_polars
from discreet.frames.positions import as_column, places
from discreet.frames.times import python_times
from discreet.frames.unit_form import named
from discreet.frames.units import joint_codes, person_codes, unit_array

__all__ = [
    "ALL",
    "AnyFrame",
    "ColumnKind",
    "Frame",
    "FrameColumn",
    "Type",
    "Typed",
    "as_column",
    "frame_library",
    "held_by_numpy",
    "identities",
    "is_large",
    "joint_codes",
    "key_form",
    "key_values",
    "listed_keys",
    "named",
    "numbers",
    "person_codes",
    "places",
    "present",
    "python_times",
    "to_arrow",
    "to_pandas",
    "to_polars",
    "truths",
    "typed",
    "unit_array",
]

__dir__ = listing("discreet.frames")
