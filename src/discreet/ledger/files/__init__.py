"""Files of a ledger: for their owner only, anchored against older copies, one writer for one question."""
