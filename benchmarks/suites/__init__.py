"""The parts of ``benchmarks/real_suites.py``: planted faults in suites of published packages."""
