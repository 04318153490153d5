// In the place of NVIDIA's ptxas, for compilers that write PTX and call it,
// such as Triton and XLA: checks the PTX as the simulated device does when it
// loads it, and gives it as the machine code, which it is there.
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include <limits.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cudasim/ptxas/command_line.h"
#include "device/abi/library.h"

namespace {

// As ptxas ends.
constexpr int kFailed = 255;

const char* const kHelp =
    "Usage: ptxas [options] FILE.ptx\n"
    "Checks PTX for torch_cuda's simulated device, which runs it as it is.\n"
    "  -o, --output-file FILE   where it goes (elf.o)\n"
    "  -V, --version\n"
    "NVIDIA's other options are taken and mean nothing here.\n";

// Compilers look for "release" and "V". Triton of torch 2.6 knows no CUDA 13;
// XLA warns of wrong code up to 12.6.2.
const char* const kVersion =
    "ptxas of torch_cuda's simulated device\n"
    "Cuda compilation tools, release 12.9, V12.9.86\n";

int fail(const std::string& reason) {
  std::fprintf(stderr, "ptxas fatal   : %s\n", reason.c_str());
  return kFailed;
}

/// The simulated device's library: in the wheel it lies in a folder beside.
std::string library() {
  char path[PATH_MAX];
  const ssize_t length = readlink("/proc/self/exe", path, sizeof(path));
  const std::string own(
      path, length < 0 ? 0 : static_cast<std::size_t>(length));
  const std::string folder = own.substr(0, own.rfind('/') + 1);
  return folder + "../lib/libaccel_sim.so";
}

/// Throws accelerator::StatusError for what the device would not load, or not
/// execute: a compiler can choose other instructions, a running kernel cannot.
void check(const std::string& text, const std::string& name) {
  // No kernel runs: what the program that calls this one says of machine code,
  // and of checks that forbid it, is for kernels.
  setenv("CUDASIM_NATIVE", "off", 1);
  accelerator::Library sim(library());
  sim.initialize("");
  accel_image image{};
  image.struct_size = sizeof(image);
  image.format = ACCEL_CODE_PTX;
  image.code = text.c_str();
  image.bytes = text.size();
  image.source_name = name.c_str();
  image.check_all = 2;
  accel_module module = nullptr;
  const accel_status status = sim.api().module_load(0, &image, &module);
  if (status != ACCEL_OK) {
    throw accelerator::StatusError(status, sim.api().last_error());
  }
}

/// Whether something other than a file has the name, such as /dev/null or a
/// pipe, which a file must not take the place of.
bool is_no_file(const std::string& name) {
  struct stat found{};
  return stat(name.c_str(), &found) == 0 && !S_ISREG(found.st_mode);
}

/// The file is there as a whole, or not at all. Programs hand what they read
/// from it to cuModuleLoadData, which sees the end of a text by its NUL.
bool write(const std::string& file, const std::string& text) {
  if (is_no_file(file)) {
    std::ofstream stream(file, std::ios::binary);
    stream.write(text.c_str(), static_cast<std::streamsize>(text.size() + 1));
    stream.close();
    return static_cast<bool>(stream);
  }
  const std::string part = file + "." + std::to_string(getpid());
  std::ofstream stream(part, std::ios::binary);
  stream.write(text.c_str(), static_cast<std::streamsize>(text.size() + 1));
  stream.close();
  if (stream && std::rename(part.c_str(), file.c_str()) == 0) {
    return true;
  }
  const int reason = errno;
  std::remove(part.c_str());
  errno = reason;
  return false;
}

} // namespace

int main(int argc, char** argv) {
  try {
    const auto line =
        cudasim::ptxas::parse_command_line({argv + 1, argv + argc});
    if (line.help || line.version) {
      std::fputs(line.help ? kHelp : kVersion, stdout);
      return 0;
    }
    std::ifstream stream(line.input, std::ios::binary);
    const std::string text{std::istreambuf_iterator<char>(stream), {}};
    if (!stream) {
      return fail("Could not open input file '" + line.input + "'");
    }
    try {
      check(text, line.input);
    } catch (const accelerator::StatusError& error) {
      std::fprintf(stderr, "ptxas error   : %s\n", error.what());
      return fail("Ptx assembly aborted due to errors");
    }
    if (!write(line.output, text)) {
      return fail(
          "Could not write '" + line.output + "': " + std::strerror(errno));
    }
    return 0;
  } catch (const std::exception& error) {
    return fail(error.what());
  }
}
