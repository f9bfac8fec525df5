"""Records of releases: a loss as plain text that can be stored, read and replayed."""

from discreet.privacy.records.kinds import ReleaseKind, plainest
from discreet.privacy.records.record import FORMAT, ReleaseRecord, records_from_json, records_to_json, replay
from discreet.privacy.records.text import rational_text, read, read_rational, refuse_fields, write
