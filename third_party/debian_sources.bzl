"""The sources of Debian's packages, from wherever APT is configured to look."""

def _url(repository_ctx, source):
    """Returns the mirror's address of a source, or None where APT is not there or knows no such source."""
    apt = repository_ctx.which("apt-get")
    if not apt:
        return None
    result = repository_ctx.execute([
        apt,
        "source",
        "--print-uris",
        "--download-only",
        "--only-source",
        "%s=%s" % (source.package, source.version),
    ])
    for line in result.stdout.splitlines():
        if source.filename in line and line.startswith("'"):
            return line.split("'")[1]
    return None

def extract_debian_source(repository_ctx, source, output):
    """Extracts the orig tarball of a source package.

    Args:
        repository_ctx: of the repository rule that wants it.
        source: struct of `package`, `version` (as Debian writes it), `filename` and `sha256` of the tarball, and `prefix`,
            the folder in it whose contents are wanted.
        output: string, the folder that they go to.

    Returns:
        bool: False where APT is not there or knows no such source.
    """
    url = _url(repository_ctx, source)
    if not url:
        return False
    repository_ctx.download_and_extract(
        url = url,
        sha256 = source.sha256,
        stripPrefix = source.prefix,
        output = output,
    )
    return True
