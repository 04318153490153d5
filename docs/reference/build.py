"""Builds the reference: HTML of the headers (Doxygen) and of the Python packages (pydoctor), and its warnings.

    build.py --doxygen PROGRAM --doxyfile FILE --index FILE --site DIR --warnings FILE --header FILE… --module FILE…

Headers may have Markdown among them, which becomes pages.

The warnings of both go into one file, which is empty if there are none. Sources are read and never imported.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Sequence

from pydoctor import driver, model
from pydoctor.options import Options

C = "c"
PYTHON = "python"
"""The folders of the site."""

# A member that is a pointer to a function: Doxygen takes it for a variable, whose parameters it does not look at.
_FUNCTION_MEMBER = re.compile(r"^(  \w[\w ]*\*?) \((\s*)\*(\w+)\)\(", re.MULTILINE)


class GeneratorError(Exception):
    """A generator did not come to its end; the text is what it said."""


def build_c(
    doxygen: pathlib.Path,
    doxyfile: pathlib.Path,
    headers: Iterable[pathlib.Path],
    site: pathlib.Path,
) -> list[str]:
    """Writes the pages of headers; members that are pointers to functions are shown as functions.

    Args:
        doxygen: its program.
        doxyfile: settings.
        headers: relative paths, as programs include them, and Markdown.
        site: folder to write.

    Returns:
        The warnings.

    Raises:
        GeneratorError: Doxygen failed.
    """
    with tempfile.TemporaryDirectory() as folder:
        for header in headers:
            copy = pathlib.Path(folder, header)
            copy.parent.mkdir(parents=True, exist_ok=True)
            text = _FUNCTION_MEMBER.sub(r"\1 \2\3(", header.read_text(encoding="utf-8"))
            copy.write_text(text, encoding="utf-8")
        output = pathlib.Path(folder, "output")
        output.mkdir()
        settings = {
            "INPUT": folder,
            "RECURSIVE": "YES",
            "EXCLUDE": str(output),
            "FULL_PATH_NAMES": "YES",
            "STRIP_FROM_PATH": folder,
            "STRIP_FROM_INC_PATH": folder,
            "OUTPUT_DIRECTORY": str(output),
            "HTML_OUTPUT": C,
        }
        lines = [doxyfile.read_text(encoding="utf-8")]
        lines += [f'{name} = "{value}"' for name, value in settings.items()]
        done = subprocess.run(
            [doxygen.absolute(), "-"],
            input="\n".join(lines),
            capture_output=True,
            text=True,
            check=False,
        )
        if done.returncode != 0:
            raise GeneratorError(f"Doxygen failed: {done.stderr.strip()[-2000:]}")
        shutil.copytree(output / C, site / C)
    return [line.replace(f"{folder}/", "") for line in done.stderr.splitlines() if line.strip()]


def build_python(modules: Iterable[pathlib.Path], site: pathlib.Path) -> list[str]:
    """Writes the pages of Python packages, of what has a public name.

    Args:
        modules: relative paths of all files; the packages' folders are those with an `__init__.py`.
        site: folder to write.

    Returns:
        The warnings: references to nothing, parameters that are not there, and what has no docstring.
    """
    with tempfile.TemporaryDirectory() as folder:
        for module in modules:
            copy = pathlib.Path(folder, module)
            copy.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(module, copy)
        packages = sorted(
            found.parent
            for found in pathlib.Path(folder).rglob("__init__.py")
            if not (found.parent.parent / "__init__.py").exists()
        )
        # Without the footer, which names the time. Long names wrap on narrow screens.
        templates = pathlib.Path(folder, "templates")
        templates.mkdir()
        (templates / "footer.html").write_text(_FOOTER, encoding="utf-8")
        (templates / "extra.css").write_text(_STYLE, encoding="utf-8")
        options = [
            "--quiet",
            "--docformat=google",
            "--project-name=torch_cuda",
            "--disable-intersphinx-cache",
            "--use-hardlinks",
            "--privacy=HIDDEN:**._*",
            "--privacy=PUBLIC:**.__init__",
            "--cls-member-order=source",
            f"--template-dir={templates}",
            f"--html-output={site / PYTHON}",
        ]
        said = io.StringIO()
        with contextlib.redirect_stdout(said):
            system = driver.get_system(Options.from_args([*options, *map(str, packages)]))
            driver.make(system)
        lines = said.getvalue().splitlines() + _undocumented(system)
        return [line.replace(f"{folder}/", "") for line in lines if line.strip()]


def _undocumented(system: model.System) -> list[str]:
    """A line for each module, class and function that has a page and nothing on it."""
    return [
        f"{found.module.source_path}:{found.linenumber}: {found.fullName()} has no docstring"
        for found in system.allobjects.values()
        if isinstance(found, (model.Module, model.Class, model.Function))
        and found.isVisible
        and not found.name.startswith("__")
        and not any(source.docstring for source in found.docsources())
    ]


_STYLE = "body { overflow-wrap: anywhere }\n"
_FOOTER = """\
<footer xmlns:t="http://twistedmatrix.com/ns/twisted.web.template/0.1" class="navbar navbar-default">
  <meta name="pydoctor-template-version" content="3" />
  <script src="ajax.js" type="text/javascript"></script>
  <script src="searchlib.js" type="text/javascript"></script>
  <script src="search.js" type="text/javascript"></script>
</footer>
"""


def main(argv: Sequence[str] | None = None) -> int:
    """Builds the site; returns the exit status."""
    parser = argparse.ArgumentParser(prog="build", description="Build the reference.")
    for name in ("doxygen", "doxyfile", "index", "site", "warnings"):
        parser.add_argument(f"--{name}", type=pathlib.Path, required=True)
    for name in ("header", "module"):
        parser.add_argument(f"--{name}", type=pathlib.Path, action="append", required=True)
    arguments = parser.parse_args(argv)
    site = arguments.site.absolute()
    site.mkdir(parents=True, exist_ok=True)
    try:
        warnings = build_c(arguments.doxygen, arguments.doxyfile, arguments.header, site)
    except GeneratorError as wrong:
        parser.exit(1, f"{wrong}\n")
    warnings += build_python(arguments.module, site)
    shutil.copyfile(arguments.index, site / "index.html")
    arguments.warnings.write_text("".join(f"{line}\n" for line in warnings), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
