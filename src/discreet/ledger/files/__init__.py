"""Files of a ledger: for their owner only, anchored against older copies, one writer for one question."""

from discreet.ledger.files.anchor import Anchor, AnchorFile, synchronize, synchronize_directory, unusable
from discreet.ledger.files.crash_points import reach
from discreet.ledger.files.one_at_a_time import OneAtATime
from discreet.ledger.files.private_file import make_private, open_instead, open_private
