"""For repository rules: files out of a wheel on a package index, without downloading the wheel."""

_SOURCES = ["fetch.py", "index.py", "members.py", "ranged_file.py"]

def fetch_remote_wheel(repository_ctx, requirement, include, record_sha256, output = ".", strip_prefix = "", python_version = "3.13", platforms = []):
    """Puts files of a wheel into the repository; ends the build with a message where they cannot be had.

    Args:
        repository_ctx: of the repository rule that wants them.
        requirement: string, `NAME==VERSION`.
        include: list of globs of the wheel's files; `**` crosses folders.
        record_sha256: string, SHA-256 of the wheel's dist-info/RECORD; `python3 -m tools.remote_wheel.fetch
            --requirement=NAME==VERSION` says it.
        output: string, the folder of the repository that they go to.
        strip_prefix: string, the folder that their names lose.
        python_version: string, of the Python that the wheel is for.
        platforms: list of platform tags; those of today's Linux where it is empty.
    """
    python = repository_ctx.which("python3")
    if not python:
        fail("@%s needs python3 on PATH. Install it, or use ./bazelw, which brings one." % repository_ctx.name)

    # Each is named, so that a change of one fetches again.
    sources = [repository_ctx.path(Label("//tools/remote_wheel:" + source)) for source in _SOURCES]
    result = repository_ctx.execute(
        [
            python,
            "-B",
            "-m",
            "tools.remote_wheel.fetch",
            "--requirement=" + requirement,
            "--python-version=" + python_version,
            "--record-sha256=" + record_sha256,
            "--strip-prefix=" + strip_prefix,
            "--output=" + output,
        ] + ["--include=" + glob for glob in include] + ["--platform=" + platform for platform in platforms],
        environment = {"PYTHONPATH": str(sources[0].dirname.dirname.dirname)},
        # It may have to say that it downloads a whole wheel.
        quiet = False,
        timeout = 3600,
    )
    if result.return_code:
        fail(result.stderr.strip())
