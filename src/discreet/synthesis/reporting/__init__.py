"""Reports on a release: predicted and measured errors beside simple baselines."""
