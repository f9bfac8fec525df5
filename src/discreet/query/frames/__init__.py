"""Frames as tables: what pandas, Polars and Arrow hold, read by declared types and kinds of columns."""

from discreet.query.frames.columns import labels_of
from discreet.query.frames.tables import FrameTable, columns_of_units, frame_table
