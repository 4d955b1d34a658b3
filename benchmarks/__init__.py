"""Benchmarks: each file registers entries with `harness.entry`; `python -m benchmarks` runs them."""
