// The tables by which NVIDIA's own libraries reach into NVIDIA's driver. There
// are none here; who asks for one gets told how such a program is to be run.
#include "runtime/api/driver/export_table.h"

#include <dlfcn.h>
#include <limits.h>
#include <stdlib.h>

#include <mutex>
#include <set>

#include "runtime/api/driver/call.h"

using namespace accelerator::runtime;
using accelerator::driver::call_before_init;

namespace {

std::string file_of(const void* address) {
  Dl_info info{};
  if (dladdr(address, &info) == 0 || info.dli_fname == nullptr) {
    return "an unknown file";
  }
  return info.dli_fname;
}

bool begins_with(const std::string& text, const char* beginning) {
  return text.rfind(beginning, 0) == 0;
}

bool is_program(const std::string& file) {
  char program[PATH_MAX];
  char other[PATH_MAX];
  return realpath("/proc/self/exe", program) != nullptr &&
      realpath(file.c_str(), other) != nullptr && std::string(program) == other;
}

constexpr char kPreload[] =
    "python -m torch_cuda_runtime --preload=MAJOR PROGRAM, with the major "
    "version of its CUDA";

// By the library's name: what the file is, and what to do about it.
struct Asking {
  std::string what;
  std::string needed;
  std::string advice;
};

Asking asking(const std::string& file, const std::string& name) {
  if (begins_with(name, "libcudart.")) {
    return {
        "NVIDIA's CUDA runtime",
        "torch_cuda's libcudart in its place",
        std::string("start the program by ") + kPreload};
  }
  if (begins_with(name, "libcupti.")) {
    return {
        "NVIDIA's CUPTI",
        "torch_cuda's libcupti in its place, or no profiler",
        std::string("start the program by ") + kPreload +
            "; a profiler that loads a CUPTI of its own by its path, as "
            "Triton's Proton does, does not work here (docs/stock.md)"};
  }
  const std::string static_runtime =
      "NVIDIA's CUDA runtime, or another library of NVIDIA's, inside ";
  if (is_program(file)) {
    return {
        static_runtime + "the program",
        "torch_cuda's libcudart in its place",
        std::string("link the program with nvcc -cudart shared, and start it "
                    "by ") +
            kPreload};
  }
  return {
      static_runtime + "a library",
      "torch_cuda's libcudart in its place",
      std::string(
          "use a build of this library that needs libcudart.so.MAJOR, "
          "or link it with nvcc -cudart shared; start the program by ") +
          kPreload};
}

} // namespace

std::string accelerator::driver::export_table_message(const std::string& file) {
  const std::string name = file.substr(file.rfind('/') + 1);
  // NVIDIA's compilers ask, too, and go on without an answer.
  for (const char* compiler : {"libnvrtc.", "libnvJitLink.", "libnvvm."}) {
    if (begins_with(name, compiler)) {
      return "";
    }
  }
  const Asking found = asking(file, name);
  return "found " + found.what + " (" + file +
      "), which asks for tables of NVIDIA's driver (cuGetExportTable); needed "
      "is " +
      found.needed + ". To fix it: " + found.advice;
}

extern "C" CUresult cuGetExportTable(const void** table, const CUuuid*) {
  const void* const caller = __builtin_return_address(0);
  return call_before_init([&] {
    store(table, nullptr);
    const std::string file = file_of(caller);
    static std::mutex mutex;
    static std::set<std::string> told;
    const std::string message = accelerator::driver::export_table_message(file);
    const std::lock_guard lock(mutex);
    if (!message.empty() && told.insert(file).second) {
      report(message);
    }
    throw Failure(cudaErrorNotSupported);
  });
}
