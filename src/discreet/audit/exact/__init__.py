"""Exact audits: a law on neighbors, or on all small tables, against its guarantee."""

from discreet.audit.exact.compared import Compared, Lawful
from discreet.audit.exact.exact_audit import audit_exact
from discreet.audit.exact.on_tables import OnTables
from discreet.audit.exact.search import Varied
