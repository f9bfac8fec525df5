"""Statistical audits: a black box run many times, and events that tell its inputs apart."""
