"""Python programs that import torch, in processes of their own that share most of the import.

`import torch` takes 1.5 CPU seconds, and what differs between the programs of a test comes at its very end: torch asks
`importlib.metadata` which other backends are installed, and loads them. A process imports torch up to that question
and waits. For each program it forks a child, which gets the program's environment, asks the question itself, finishes
the import and runs the program as `__main__`. Nothing that a backend does is shared, and no child sees another. At its
end, a child's garbage collector looks at what came behind the import: the modules of torch take it 0.3 CPU seconds.
"""

from __future__ import annotations

import ast
import atexit
import collections
import json
import os
import pathlib
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from typing import IO, Any, Self

# Runs as `python -c`. What it leaves in `__main__` is what a program finds there: nothing. The command line has the
# descriptors of requests and of answers.
_SERVER = """
def _finish_import():
    import gc, importlib.metadata, json, os, sys
    requests, answers = map(int, sys.argv[1:3])
    code = []
    ask = importlib.metadata.entry_points
    def wait(**question):
        importlib.metadata.entry_points = ask
        with os.fdopen(requests) as lines:
            for line in lines:
                request = json.loads(line)
                sys.stdout.flush()
                sys.stderr.flush()
                child = os.fork()
                if child == 0:
                    break
                _, status = os.waitpid(child, 0)
                os.write(answers, b"%d\\n" % os.waitstatus_to_exitcode(status))
            else:
                os._exit(0)
        os.close(answers)
        for number, name in ((1, "out"), (2, "err")):
            file = os.open(request[name], os.O_WRONLY | os.O_APPEND)
            os.dup2(file, number)
            os.close(file)
        # An interpreter may add some when it starts, such as LC_CTYPE.
        added = {name: os.environ[name] for name in os.environ.keys() - set(request["given"])}
        os.environ.clear()
        os.environ.update({**added, **request["environ"]})
        os.chdir(request["folder"])
        sys.path[1:1] = request["path"]
        sys.argv[1:] = request["arguments"]
        importlib.invalidate_caches()
        code.append(request["code"])
        return ask(**question)
    importlib.metadata.entry_points = wait
    import torch
    gc.freeze()
    return compile(*code, "<string>", "exec")
_finish_import = _finish_import()
exec(globals().pop("_finish_import"))
"""

# The environment decides about these before, or without, the question.
_AUTOLOAD = "TORCH_DEVICE_BACKEND_AUTOLOAD"


def can_share(code: str, environ: Mapping[str, str]) -> bool:
    """Whether a program imports torch, and its backends, before it does anything else.

    Args:
        code: Python source.
        environ: its environment variables.

    Returns:
        True if only modules of the standard library are imported before torch: their imports and torch's may come in
        either order.
    """
    if environ.get(_AUTOLOAD, "1") != "1":
        return False
    for statement in ast.parse(code).body:
        if isinstance(statement, ast.Import):
            names = [alias.name for alias in statement.names]
        elif isinstance(statement, ast.ImportFrom) and statement.level == 0:
            names = [statement.module or ""]
        else:
            return False
        for name in names:
            top = name.partition(".")[0]
            if top == "torch":
                return True
            if top not in sys.stdlib_module_names:
                return False
    return False


class PausedImport:
    """A process that has imported torch up to the question for backends.

    Args:
        python: the interpreter.
        environ: environment variables of the import.
    """

    def __init__(self, python: str, environ: Mapping[str, str]) -> None:
        self._folder = tempfile.TemporaryDirectory()
        self._environ = dict(environ)
        theirs, requests = os.pipe()
        answers, their_answers = os.pipe()
        ends = (theirs, their_answers)
        # What the import itself writes, each program has written.
        self._said = [
            pathlib.Path(self._folder.name, name) for name in ("import_out", "import_err")
        ]
        with self._said[0].open("wb") as out, self._said[1].open("wb") as err:
            self._process = subprocess.Popen(
                [python, "-c", _SERVER, *map(str, ends)],
                env=self._environ,
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=err,
                pass_fds=ends,
            )
        for end in ends:
            os.close(end)
        self._requests = os.fdopen(requests, "w", encoding="utf-8")
        self._answers: IO[str] = os.fdopen(answers, encoding="utf-8")

    def run(
        self,
        code: str,
        *arguments: str,
        environ: Mapping[str, str] | None = None,
        path: Sequence[str] = (),
        folder: str | os.PathLike[str] = ".",
    ) -> subprocess.CompletedProcess[str]:
        """Runs a program for which `can_share` holds, as `python -c` does.

        Args:
            code: its source.
            *arguments: of its command line.
            environ: all its environment variables; those of the import if None. No variable that differs may be read
                by an interpreter, a loader or torch before torch asks for backends.
            path: what PYTHONPATH has for it and did not have for the import.
            folder: its working folder.

        Returns:
            What it did.

        Raises:
            RuntimeError: torch cannot be imported; the message has what the process wrote.
        """
        with tempfile.TemporaryDirectory(dir=self._folder.name) as name:
            out, err = pathlib.Path(name, "out"), pathlib.Path(name, "err")
            out.touch()
            err.touch()
            request = {
                "arguments": arguments,
                "code": code,
                "environ": dict(self._environ if environ is None else environ),
                "err": str(err),
                "folder": str(pathlib.Path(folder).absolute()),
                "given": list(self._environ),
                "out": str(out),
                "path": list(path),
            }
            try:
                print(json.dumps(request), file=self._requests, flush=True)
                status = self._answers.readline()
            except BrokenPipeError:
                status = ""
            said = [before.read_text() for before in self._said]
            if not status:
                raise RuntimeError("\n".join(["import torch failed", *said]))
            return subprocess.CompletedProcess(
                [sys.executable, "-c", code, *arguments],
                int(status),
                said[0] + out.read_text(),
                said[1] + err.read_text(),
            )

    def close(self) -> None:
        """Ends the process."""
        self._requests.close()
        self._process.wait()
        self._answers.close()
        self._folder.cleanup()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


# A process has some 150 MB.
_MOST = 3
_paused: collections.OrderedDict[Any, PausedImport] = collections.OrderedDict()


@atexit.register
def _close_all() -> None:
    while _paused:
        _paused.popitem()[1].close()


def run(
    python: str,
    code: str,
    *arguments: str,
    environ: Mapping[str, str],
    changes: Mapping[str, str] | None = None,
    path: Sequence[str] = (),
    folder: str | os.PathLike[str] = ".",
) -> subprocess.CompletedProcess[str]:
    """Runs a program; those with the same interpreter and environment share the import of torch.

    Args:
        python: the interpreter.
        code: the program's source. If `can_share` does not hold for it, it gets a process of its own.
        *arguments: of its command line.
        environ: environment variables of the import.
        changes: variables that the program has besides; see `PausedImport.run`.
        path: as for `PausedImport.run`.
        folder: as for `PausedImport.run`.

    Returns:
        What it did.
    """
    whole = {**environ, **(changes or {})}
    if path:
        whole["PYTHONPATH"] = os.pathsep.join([*path, *filter(None, [environ.get("PYTHONPATH")])])
    if not can_share(code, whole):
        return subprocess.run(
            [python, "-c", code, *arguments],
            env=whole,
            cwd=folder,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
        )
    key = (python, *sorted(environ.items()))
    paused = _paused.pop(key, None) or PausedImport(python, environ)
    _paused[key] = paused
    if len(_paused) > _MOST:
        _paused.popitem(last=False)[1].close()
    return paused.run(code, *arguments, environ=whole, path=path, folder=folder)
