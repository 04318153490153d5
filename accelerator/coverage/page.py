"""The page docs/coverage/runtime.md, from what is there and what is tested."""

from __future__ import annotations

from collections.abc import Sequence

from accelerator.coverage.inventory import Function, Library

_HEAD = """\
# What CUDA's libraries cover

Written by `./bazelw run //accelerator/coverage:update`; a test fails when it is out of date. Nothing in it is typed by hand.

Functions are those that a library exports and implements. Their tests are those that noticed when the function answered
wrongly, one function at a time: when it did nothing and said that it went well, and when it did its work and said that it
failed (`./bazelw run //accelerator/coverage/mutants:measure`). A function has a test when one notices the former; of some, such as
hints, nothing but the status can be seen. What PyTorch reaches through its own tests ([docs/cudasim.md](../cudasim.md)) is not counted.

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
