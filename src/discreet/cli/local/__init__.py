"""`discreet local NAME`: plan reports from people who need not trust the collector, and rehearse them."""
