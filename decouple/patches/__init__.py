"""A series of patches on a source tree: apply, reverse, status, and why one no longer applies."""
