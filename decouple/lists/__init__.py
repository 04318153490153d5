"""Reads upstream's build lists: Starlark files and CMake files."""
