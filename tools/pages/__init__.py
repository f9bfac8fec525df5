"""Pages made from the source: theorems, notebooks, executed examples."""
