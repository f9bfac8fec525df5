"""Statistical audits: a black box run many times, and events that tell its inputs apart."""

from discreet.audit.statistical.attainable import best_expected_bound
from discreet.audit.statistical.loss_bound import cap, loss_at_least
from discreet.audit.statistical.statistical_audit import DRAWS, audit_statistical
