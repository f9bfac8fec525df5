"""DualQuery: records drawn against the worst queries, with its exact price and transcript."""
