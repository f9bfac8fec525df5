"""What all benchmarks share: clocks, tables, bars and the processes of peers."""
