"""`discreet audit`: the museum of broken mechanisms, and every mechanism of discreet itself."""
