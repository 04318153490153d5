"""What a new version of PyTorch adds, moves and drops."""
