"""prv_accountant as a peer."""
