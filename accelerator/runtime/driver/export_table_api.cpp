// The tables by which NVIDIA's own runtime reaches into NVIDIA's driver. There
// are none here; who asks for one gets told how such a program is to be run.
#include <dlfcn.h>

#include <atomic>
#include <string>

#include "accelerator/runtime/driver/call.h"

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

// NVIDIA's compilers ask, too, and go on without an answer.
bool goes_on_without(const std::string& file) {
  const std::string name = file.substr(file.rfind('/') + 1);
  for (const char* compiler : {"libnvrtc.", "libnvJitLink.", "libnvvm."}) {
    if (name.rfind(compiler, 0) == 0) {
      return true;
    }
  }
  return false;
}

} // namespace

extern "C" CUresult cuGetExportTable(const void** table, const CUuuid*) {
  const void* const caller = __builtin_return_address(0);
  return call_before_init([&] {
    store(table, nullptr);
    const std::string file = file_of(caller);
    static std::atomic<bool> told{false};
    if (!goes_on_without(file) && !told.exchange(true)) {
      report(
          "found NVIDIA's CUDA runtime in " + file +
          ", which asks for tables of NVIDIA's driver (cuGetExportTable); "
          "needed is torch_cuda's libcudart in its place. To fix it: link the "
          "program with nvcc -cudart shared, and start it by python -m "
          "torch_cuda_runtime --preload=MAJOR PROGRAM, with the major version "
          "of its CUDA");
    }
    throw Failure(cudaErrorNotSupported);
  });
}
