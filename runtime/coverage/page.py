"""The page docs/coverage/runtime.md, from what is there and what is tested."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence

from runtime.coverage.inventory import Function, Library

_HEAD = """\
# What CUDA's libraries cover

`./bazelw run //runtime/coverage:update` writes this page. A test fails if the page is out of date.

- The page lists the functions that a library exports and implements.
- `./bazelw run //runtime/coverage/mutants:measure` changes one function at a time: the function does nothing and
  reports success, or it does its work and reports an error. The test of a function is a test that fails then.
- A function counts as *with a test* if a test notices that the function does nothing. Of some functions, such as
  hints, only the status is visible: *status alone*.
- A function is *not measured* if a test calls it, but `functions.json` does not have it, such as a newer one.
- `runtime/coverage/mutants/functions.json` has the tests of each function.
- PyTorch's own tests ([docs/cudasim.md](../cudasim.md)) do not count.

| library | functions | with a test | status alone | not measured | more, which answer "not supported" |
|---|---|---|---|---|---|
"""


def _list(title: str, functions: Sequence[Function]) -> str:
    names = ", ".join(f"`{function.name}`" for function in functions)
    return (
        f"\n{textwrap.fill(f'{title}: {names}.', 120, break_on_hyphens=False)}\n"
        if functions
        else ""
    )


def render(libraries: Sequence[Library]) -> str:
    """The whole page.

    Args:
        libraries: in the order of the page.
    """
    text, lists = [_HEAD], []
    for library in libraries:
        effect = [function for function in library.functions if function.effect]
        rest = [function for function in library.functions if not function.effect]
        status = [function for function in rest if function.status]
        unmeasured = [function for function in rest if not function.is_measured]
        untested = [function for function in rest if function.is_measured and not function.status]
        text.append(
            f"| `{library.soname}` | {len(library.functions)} | {len(effect)} | {len(status)} | {len(unmeasured)} "
            f"| {library.missing} |\n"
        )
        lists.append(f"\n## {library.soname}\n")
        lists.append(_list("With a test", effect))
        lists.append(_list("Status alone", status))
        lists.append(_list("Not measured", unmeasured))
        lists.append(_list("Without a test", untested))
    return "".join(text + lists)
