"""Packages of PyPI, from wherever pip is configured to look on this machine, checked against their hashes."""

def install_pip_packages(repository_ctx, requirements, failed):
    """Installs the packages of a file into the folder `site` of the repository; ends the build with a message where that fails.

    Args:
        repository_ctx: of the repository rule that wants them.
        requirements: label of a file with versions and hashes, as pip reads it.
        failed: string with a place for `{reason}`: what to say when they cannot be had.
    """
    python = repository_ctx.which("python3")
    if not python:
        fail(failed.format(reason = "there is no python3 on the PATH"))
    result = repository_ctx.execute(
        [
            python,
            "-m",
            "pip",
            "install",
            "--quiet",
            "--disable-pip-version-check",
            "--no-input",
            "--no-deps",
            "--no-compile",
            "--only-binary=:all:",
            "--require-hashes",
            "--requirement=%s" % repository_ctx.path(requirements),
            "--target=site",
        ],
        environment = {"PIP_USER": "0"},
        timeout = 600,
    )
    if result.return_code:
        fail(failed.format(reason = result.stderr.strip()))
