"""Laws of what choosing mechanisms put out."""
