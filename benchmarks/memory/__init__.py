"""The benchmark of the memory: fingerprints, retrieval, the store."""
