"""How good the detectors are on real runs, beside what others do. `make evaluate` runs it."""
