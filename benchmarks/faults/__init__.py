"""The benchmark of planted faults: what it collects, fits and reports."""
