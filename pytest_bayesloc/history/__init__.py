"""Earlier states of the code: git, snapshots, and what changed since."""
