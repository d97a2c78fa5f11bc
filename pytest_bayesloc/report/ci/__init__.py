"""Reports that CI services show by themselves."""
