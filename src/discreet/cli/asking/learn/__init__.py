"""`discreet learn`: models of private tables, what they cost, what they predict and how well."""
