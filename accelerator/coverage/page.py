"""The page docs/coverage/runtime.md, from what is there and what is tested."""

from __future__ import annotations

from collections.abc import Sequence

from accelerator.coverage.inventory import Function, Library

_HEAD = """\
# What CUDA's libraries cover

`./bazelw run //accelerator/coverage:update` writes this page. A test fails if the page is out of date.

- The page lists the functions that a library exports and implements.
- `./bazelw run //accelerator/coverage/mutants:measure` changes one function at a time: the function does nothing and
  reports success, or it does its work and reports an error. The test of a function is a test that fails then.
- A function counts as *with a test* if a test notices that the function does nothing. Of some functions, such as
  hints, only the status is visible: *status alone*.
- PyTorch's own tests ([docs/cudasim.md](../cudasim.md)) do not count.

| | there | with a test | status alone |
|---|---|---|---|
"""


def _labels(tests: Sequence[str]) -> str:
    return ", ".join(f"`{test}`" for test in tests)


def _row(function: Function) -> str:
    if not function.effect and not function.status:
        return f"| `{function.name}` | **no test** | |\n"
    effect = _labels(function.effect) or "status alone"
    return f"| `{function.name}` | {effect} | {_labels(function.status)} |\n"


def render(libraries: Sequence[Library]) -> str:
    """The whole page.

    Args:
        libraries: in the order of the page.
    """
    text = [_HEAD]
    for library in libraries:
        effect = [function for function in library.functions if function.effect]
        status = [
            function for function in library.functions if function.status and not function.effect
        ]
        text.append(
            f"| functions of `{library.soname}` | {len(library.functions)} | {len(effect)} | {len(status)} |\n"
        )
    for library in libraries:
        text.append(
            f"\n## {library.soname}\n\n{len(library.functions)} functions. "
            f'{library.missing} more of NVIDIA\'s answer "not supported" and name themselves.\n\n'
            "| function | fails when it does nothing | fails when it reports an error |\n|---|---|---|\n"
        )
        text += [_row(function) for function in library.functions]
    return "".join(text)
