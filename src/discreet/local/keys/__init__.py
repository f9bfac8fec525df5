"""Values that are not numbered: keys, public hashing, sketches."""
