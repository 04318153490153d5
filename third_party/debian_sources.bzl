"""Where Debian's mirrors have the source of a package."""

def debian_source_url(repository_ctx, package, version, filename):
    """Asks APT where a file of a source package lies.

    Args:
        repository_ctx: of the repository rule that wants it.
        package: string, name of the source package.
        version: string, as Debian writes it.
        filename: string, such as the package's orig tarball.

    Returns:
        string: the mirror's address, or None where APT is not there or knows no such source.
    """
    apt = repository_ctx.which("apt-get")
    if not apt:
        return None
    result = repository_ctx.execute([
        apt,
        "source",
        "--print-uris",
        "--download-only",
        "--only-source",
        "%s=%s" % (package, version),
    ])
    for line in result.stdout.splitlines():
        if filename in line and line.startswith("'"):
            return line.split("'")[1]
    return None
