"""The session: the road from a question to a charge, a run and an answer."""

from __future__ import annotations

from discreet.query.session.opening import fitted, schemas, with_source
from discreet.query.session.session import Budget, Session, open_ledger, terms_of
from discreet.query.session.top import Top
from discreet.query.session.watch import Watch

__all__ = ["Budget", "Session", "Top", "Watch", "fitted", "open_ledger", "schemas", "terms_of", "with_source"]
