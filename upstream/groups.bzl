"""Which of upstream's groups of units each package owns. The groups themselves are upstream's: see @pytorch//:units.bzl."""

load("@pytorch//:units.bzl", "UNITS")

def upstream_group(name):
    """Returns the units of one of upstream's groups.

    Args:
        name: string, the variable of upstream's aten/src/ATen/CMakeLists.txt.

    Returns:
        list of strings, paths in @pytorch; fails with the name where upstream has no such group any more.
    """
    if name not in UNITS:
        fail("Upstream's aten/src/ATen/CMakeLists.txt no longer has the group %s. It has: %s." % (name, ", ".join(UNITS)))
    return UNITS[name]
