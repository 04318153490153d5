"""A machine made of fakes, on which the tests of this folder run bazelw.

The machine is a temporary folder with a PATH of its own: the real small tools
(bash, sed, awk, ...) and fakes for everything that would install, mount, ask
the network or run Bazel. A fake writes what it was asked to `log`. Nothing
outside the temporary folder is changed, and no test needs to be root.
"""

import os
import pathlib
import shutil
import signal
import subprocess
import tempfile
import time

BUILDROOT = pathlib.Path(__file__).absolute().parent

# The real tools that bazelw uses besides those it has to fake.
_REAL = """
    awk basename bash cat chmod cp cut date dirname du echo env false flock grep head ln ls
    mkdir mktemp mv nproc printf pwd readlink rm sed sh sha256sum sleep sort sync tail
    timeout touch tr true
"""

_FAKES = {
    # Adds a line to the log: the fake's name and its arguments.
    "apt-get": """
case "$*" in
  "indextargets --no-release-info "*) cat "$BED/indextargets" 2>/dev/null ;;
  *) echo "apt-get $*" >>"$BED/log"
     for word in $(cat "$BED/apt-get-fails-for" 2>/dev/null); do
       case "$*" in *"$word"*) echo "E: 404 Not Found"; exit 100 ;; esac
     done
     case "$*" in *install*mmdebstrap*) mv "$BED/mmdebstrap" "$BED/bin/" ;; esac ;;
esac
""",
    "apt-config": 'cat "$BED/apt-config" 2>/dev/null; true',
    "apt-helper": """
case "$2" in
*-security/*) [ ! -e "$BED/security-is-down" ] ;;
*) [ ! -e "$BED/mirror-is-down" ] ;;
esac
""",
    "dpkg": 'echo "dpkg $*" >>"$BED/log"',
    "dpkg-query": 'cat "$BED/dpkg-query"',
    "uname": "echo x86_64",
    "id": 'cat "$BED/uid" 2>/dev/null || echo 0',
    "df": """
echo "Filesystem 1024-blocks Used Available Capacity Mounted"
echo "fake 0 0 $(cat "$BED/free-kb" 2>/dev/null || echo 50000000) 0% /"
""",
    "mount": 'echo "mount $*" >>"$BED/log"',
    # The namespaces themselves are the kernel's business.
    "unshare": """
[ ! -e "$BED/no-namespaces" ] || exit 1
while [ "${1#--}" != "$1" ]; do shift; done
exec "$@"
""",
    "mmdebstrap": """
echo "mmdebstrap $*" >>"$BED/log"
while [ "$1" != trixie ]; do shift; done
shift
mkdir -p "$1/usr/bin" "$1/etc/apt/apt.conf.d" "$1/usr/local/share/ca-certificates"
cp /bin/sh "$1/usr/bin/env"
[ ! -e "$BED/hang-bootstrap" ] || { touch "$BED/hanging"; exec sleep 60; }
""",
    # Stands for the namespace of a running server.
    "nsenter": 'echo "nsenter $*" >>"$BED/log"',
    # Stands for the whole root: stages and Bazel "run" here.
    "chroot": """
echo "chroot $*" >>"$BED/log"
case "$*" in
  *stage.sh*)
    stage=${!#}
    echo "stage $stage" >>"$BED/log"
    echo "output of $stage"
    [ ! -e "$BED/hang-$stage" ] || { touch "$BED/hanging"; exec sleep 60; }
    [ ! -e "$BED/fail-$stage" ] || { rm -f "$BED/fail-$stage"; echo "E: broken $stage"; exit 100; }
    mkdir -p "$1/var/lib/torch_cuda"
    [ "$stage" != finish ] || echo 0123456789ab >"$1/var/lib/torch_cuda/toolchain" ;;
  # ROOT env --chdir=FOLDER COMMAND: the same, with the PATH of the fake root.
  *) shift 2; exec env "${@/#PATH=*/PATH=$BED/inside:$BED/bin}" ;;
esac
""",
}

# What a machine has on which Bazel can run without a build root.
_COMPLETE_HOST = {
    "bazel": """
[ "$1" != --version ] || { cat "$BED/bazel-version"; exit; }
echo "bazel $*" >>"$BED/log"
pwd >"$BED/bazel-cwd"
env | sort >"$BED/bazel-env"
""",
    "nvcc": ":",
    "g++-13": ":",
    "git": ":",
    "patch": ":",
    "unzip": ":",
    "python3": 'cat "$BED/python-modules"',
}

DEBIAN_TARGETS = """\
https://mirror.test/debian-security/ bookworm-security main
https://mirror.test/debian/ bookworm-updates main
https://mirror.test/debian/ bookworm contrib
https://mirror.test/debian/ bookworm main
"""


class Machine:
    """A fake machine; `files` of it (see the fakes) choose how it behaves.

    Attributes:
      bed: folder of the fakes and of the files that steer them.
      clone: a clone of the repository, as far as bazelw needs it.
      cache: bazelw's cache folder, not there at first.
    """

    def __init__(self) -> None:
        self._folder = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
        self.bed = pathlib.Path(self._folder.name).resolve()
        self.bin = self.bed / "bin"
        self.clone = self.bed / "clone"
        self.cache = self.bed / "cache"
        self.home = self.bed / "home"
        for folder in (self.bin, self.clone / "tools", self.home):
            folder.mkdir(parents=True)
        shutil.copytree(BUILDROOT, self.clone / "tools" / "buildroot")
        for name in _REAL.split():
            path = shutil.which(name)
            if path is None:
                raise FileNotFoundError(f"the test needs the command {name}")
            (self.bin / name).symlink_to(path)
        for name, text in _FAKES.items():
            self.install(name, text)
        self.install("bazel", _COMPLETE_HOST["bazel"])
        inside = self.bed / "inside"
        inside.mkdir()
        (self.bin / "bazel").rename(inside / "bazel")
        self.write("indextargets", DEBIAN_TARGETS)
        self.write("dpkg-query", "gcc-13 13.3.0-1\n")

    def close(self) -> None:
        """Deletes the machine."""
        self._folder.cleanup()

    def install(self, name: str, text: str) -> None:
        """Puts a command on the PATH: a bash script of the given text."""
        path = self.bin / name
        path.unlink(missing_ok=True)
        path.write_text(f"#!/bin/bash\n{text}\n")
        path.chmod(0o755)

    def install_complete_host(self) -> None:
        """Gives the machine Bazel 7.7.1 and every package a build needs."""
        for name, text in _COMPLETE_HOST.items():
            self.install(name, text)
        self.write("bazel-version", "bazel 7.7.1\n")
        self.write("python-modules", "torch 2.6.0 None\n")
        (self.bed / "include" / "pybind11").mkdir(parents=True)
        (self.bed / "include" / "pybind11" / "pybind11.h").touch()

    def install_root(self) -> None:
        """Puts a finished build root into the cache, without running the stages."""
        recipe = 'BUILDROOT=tools/buildroot; . "$BUILDROOT/recipe.sh"; recipe_hash'
        name = subprocess.run(
            ["bash", "-c", recipe], cwd=self.clone, capture_output=True, text=True, check=True
        ).stdout.strip()
        root = self.cache / f"root-{name}"
        for folder in ("usr/bin", "var/lib/torch_cuda"):
            (root / folder).mkdir(parents=True)
        shutil.copy("/bin/sh", root / "usr/bin/env")
        (root / "var/lib/torch_cuda/toolchain").write_text("0123456789ab\n")

    def write(self, name: str, text: str = "") -> None:
        """Writes a file that steers the fakes."""
        (self.bed / name).write_text(text)

    def log(self) -> list[str]:
        """Returns what the fakes were asked, in order."""
        path = self.bed / "log"
        return path.read_text().splitlines() if path.exists() else []

    def stages(self) -> list[str]:
        """Returns the stages that were started, in order."""
        names = {"mmdebstrap": "bootstrap"}
        return [
            names.get(line.split()[0], line.split()[1])
            for line in self.log()
            if line.startswith(("mmdebstrap ", "stage "))
        ]

    def roots(self) -> list[str]:
        """Returns the names of the finished and the partial roots."""
        return sorted(path.name for path in self.cache.glob("root-*"))

    def environment(self) -> dict[str, str]:
        """Returns the environment of commands on this machine."""
        return {
            "PATH": str(self.bin),
            "HOME": str(self.home),
            "BED": str(self.bed),
            "TORCH_CUDA_CACHE": str(self.cache),
            "HOST_INCLUDE": str(self.bed / "include"),
            "STAGE_ROOT": str(self.bed / "stage"),
        }

    def start(
        self, *arguments: str, cwd: pathlib.Path | None = None, **extra: str
    ) -> subprocess.Popen[str]:
        """Starts bazelw with arguments, in the clone, with extra variables."""
        return subprocess.Popen(
            ["bash", str(self.clone / "tools/buildroot/main.sh"), *arguments],
            env=self.environment() | extra,
            cwd=cwd or self.clone,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )

    def bazelw(
        self, *arguments: str, cwd: pathlib.Path | None = None, **extra: str
    ) -> subprocess.CompletedProcess[str]:
        """Runs bazelw to its end and returns what it printed."""
        process = self.start(*arguments, cwd=cwd, **extra)
        stdout, stderr = process.communicate(timeout=50)
        return subprocess.CompletedProcess(arguments, process.returncode, stdout, stderr)

    def stage(self, name: str) -> subprocess.CompletedProcess[str]:
        """Runs stage.sh itself, as it runs inside a root."""
        for folder in ("sources.list.d", "preferences.d", "apt.conf.d"):
            (self.bed / "stage/etc/apt" / folder).mkdir(parents=True, exist_ok=True)
        return subprocess.run(
            ["bash", str(self.clone / "tools/buildroot/stage.sh"), name],
            env=self.environment(),
            capture_output=True,
            text=True,
            check=False,
        )

    def wait_for(self, name: str) -> None:
        """Returns when a fake has written the file of that name."""
        for _ in range(400):
            if (self.bed / name).exists():
                return
            time.sleep(0.05)
        raise TimeoutError(f"no {name} in {[path.name for path in self.bed.iterdir()]}")

    def interrupt_in(self, stage: str, with_signal: signal.Signals) -> str:
        """Runs bazelw, sends it a signal while a stage runs, returns stderr."""
        self.write(f"hang-{stage}")
        process = self.start("version")
        self.wait_for("hanging")
        if with_signal == signal.SIGKILL:
            # As when the machine goes down: nothing can clean up.
            os.killpg(process.pid, with_signal)
        else:
            process.send_signal(with_signal)
        _, stderr = process.communicate(timeout=30)
        (self.bed / "hanging").unlink()
        (self.bed / f"hang-{stage}").unlink()
        return stderr
