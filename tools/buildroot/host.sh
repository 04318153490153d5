# shellcheck shell=bash
# Can Bazel run right here, without a build root? It can inside a build root or
# the Docker image too, so the last stage of their recipe asks the same question.

HOST_INCLUDE=${HOST_INCLUDE:-/usr/include}

# Prints, one a line, what is missing for a build on this machine: nothing when
# it has everything. Costs a few milliseconds where there is no Bazel at all.
host_missing() {
  local version tool module answer
  if ! command -v bazel >/dev/null; then
    echo "bazel (7 or newer)"
    return
  fi
  version=$(cd / && timeout 20 bazel --version 2>/dev/null </dev/null | awk '{ print $2 }')
  [[ ${version%%.*} =~ ^[0-9]+$ ]] && ((${version%%.*} >= 7)) ||
    echo "bazel 7 or newer (found: ${version:-one that does not tell its version})"
  for tool in nvcc g++-13 git patch unzip; do
    command -v "$tool" >/dev/null || echo "$tool"
  done
  [[ -e $HOST_INCLUDE/pybind11/pybind11.h ]] || echo "pybind11-dev"
  # find_spec, not import: importing torch alone takes seconds.
  answer=$(python3 -c '
import importlib.util as u, os, re
for name in ("torch", "yaml", "typing_extensions", "numpy", "absl", "pytest"):
    if u.find_spec(name) is None:
        print("module", name)
spec = u.find_spec("torch")
if spec is not None and spec.origin:
    text = open(os.path.join(os.path.dirname(spec.origin), "version.py")).read()
    found = re.search(r"__version__\s*=\s*.([0-9.]+)", text)
    cuda = re.search(r"^cuda\b[^=]*=\s*(.+)$", text, re.M)
    print("torch", found.group(1) if found else "?", cuda.group(1).strip() if cuda else "None")
' 2>/dev/null) || { echo "python3" && return; }
  while read -r module version tool; do
    case "$module $version $tool" in
      module\ *) echo "Python module $version" ;;
      "torch 2.6.0 None" | "  ") ;;
      torch*) echo "CPU-only torch 2.6.0 for python3 (found: $version, CUDA: $tool)" ;;
    esac
  done <<<"$answer"
}
