"""What every method of query release shares: neighbors, purse and release."""
