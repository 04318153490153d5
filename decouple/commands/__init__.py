"""The commands of the tool, a module each."""
