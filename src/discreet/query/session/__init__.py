"""The session: the road from a question to a charge, a run and an answer."""

from discreet.query.session.grants import check_session, grant_again, grant_once, sum_once
from discreet.query.session.opening import fitted, schemas, with_source
from discreet.query.session.session import Session, SessionBalance
from discreet.query.session.suggestion import SuggestedBound, Suggestion
from discreet.query.session.top import TopAnswer
from discreet.query.session.watch import Watch
