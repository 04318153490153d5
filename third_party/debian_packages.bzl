"""Packages of Debian's, unpacked in a folder of a repository: those of the mirror that APT is configured with."""

_FETCH = """
set -eu
mirror="$1" suite="$2" architecture="$3" folder="$4"
shift 4
mkdir -p "apt/$folder/lists/partial" "apt/$folder/archives/partial" "$folder" "download/$folder"
cat > "apt/$folder/sources.list" <<END
deb [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] $mirror $suite main
END
cat > "apt/$folder/apt.conf" <<END
Dir::Etc::SourceList "$PWD/apt/$folder/sources.list";
Dir::Etc::SourceParts "/dev/null";
Dir::State "$PWD/apt/$folder";
Dir::State::Lists "$PWD/apt/$folder/lists";
Dir::State::Status "/dev/null";
Dir::Cache "$PWD/apt/$folder";
Dir::Cache::Archives "$PWD/apt/$folder/archives";
APT::Architecture "$architecture";
APT::Architectures { "$architecture"; };
APT::Sandbox::User "root";
Acquire::Languages "none";
END
export APT_CONFIG="$PWD/apt/$folder/apt.conf"
apt-get --quiet update >&2
cd "download/$folder"
apt-get --quiet download "$@" >&2
for package in *.deb; do
  dpkg-deb --extract "$package" "../../$folder"
done
"""

def debian_mirror(repository_ctx):
    """Finds a mirror of Debian's main archive.

    Args:
        repository_ctx: of the repository rule that wants it.

    Returns:
        string: its address without its last slash, or None.
    """
    if not repository_ctx.which("apt-get"):
        return None
    result = repository_ctx.execute([
        "apt-get",
        "indextargets",
        "--no-release-info",
        "--format",
        "$(REPO_URI) $(COMPONENT)",
        "Created-By: Packages",
    ])
    for line in result.stdout.splitlines():
        address, _, component = line.partition(" ")
        if component == "main" and "security" not in address:
            return address.removesuffix("/")
    return None

def extract_debian_packages(repository_ctx, mirror, suite, architecture, folder, packages):
    """Extracts packages, without those that they depend on. APT checks the archive's signature.

    Args:
        repository_ctx: of the repository rule that wants them.
        mirror: string, as of debian_mirror.
        suite: string, such as "trixie".
        architecture: string, such as "amd64".
        folder: string, where the packages' files go.
        packages: list of strings.

    Returns:
        string: why they could not be had, or None.
    """
    done = repository_ctx.execute(
        ["sh", "-c", _FETCH, "sh", mirror, suite, architecture, folder] + packages,
        timeout = 900,
    )
    repository_ctx.delete("apt")
    repository_ctx.delete("download")
    return done.stderr.strip()[-500:] or "no reason was told" if done.return_code else None
