#include "runtime/code/nvjitlink/real_link.h"

#include <cuda.h>
#include <dlfcn.h>

#include "runtime/code/nvjitlink/options.h"
#include "runtime/real/real_library.h"

namespace accelerator::nvjitlink {
namespace {

#if CUDA_VERSION >= 13000
constexpr RealLibrary kReal{
    "libnvJitLink.so.13",
    "accelerator_nvjitlink",
    "TORCH_CUDA_NVJITLINK_PATH",
    "CUDASIM_NVJITLINK_PATH",
    "cu13",
    "which compiles what is linked at run time (LTO IR); pip install "
    "nvidia-nvjitlink"};
#else
constexpr RealLibrary kReal{
    "libnvJitLink.so.12",
    "accelerator_nvjitlink",
    "TORCH_CUDA_NVJITLINK_PATH",
    "CUDASIM_NVJITLINK_PATH",
    "nvjitlink",
    "which compiles what is linked at run time (LTO IR); pip install "
    "nvidia-nvjitlink-cu12"};
#endif

/// NVIDIA's functions, without the version that the header gives their names.
template <typename Function>
Function* real(const char* name) {
  static void* const library = open_real(kReal);
  auto* function = library == nullptr
      ? nullptr
      : reinterpret_cast<Function*>(dlsym(library, name));
  if (function == nullptr) {
    throw Failure(
        NVJITLINK_ERROR_INTERNAL, "NVIDIA's nvJitLink is not installed\n");
  }
  return function;
}

using Measure = nvJitLinkResult(nvJitLinkHandle, std::size_t*);
using Get = nvJitLinkResult(nvJitLinkHandle, char*);

} // namespace

RealLink::RealLink(const std::vector<std::string>& options) {
  std::vector<const char*> pointers;
  for (const std::string& option : options) {
    pointers.push_back(option.c_str());
  }
  try {
    check(real<decltype(nvJitLinkCreate)>("nvJitLinkCreate")(
        &handle_,
        static_cast<std::uint32_t>(pointers.size()),
        pointers.data()));
  } catch (const Failure&) {
    // It leaves a link for its log.
    if (handle_ != nullptr) {
      real<decltype(nvJitLinkDestroy)>("nvJitLinkDestroy")(&handle_);
    }
    throw;
  }
}

RealLink::~RealLink() {
  real<decltype(nvJitLinkDestroy)>("nvJitLinkDestroy")(&handle_);
}

void RealLink::add(
    nvJitLinkInputType type,
    const std::string& name,
    const std::string& data) {
  names_.push_back(name);
  check(real<decltype(nvJitLinkAddData)>("nvJitLinkAddData")(
      handle_, type, data.data(), data.size(), names_.back().c_str()));
}

void RealLink::complete() {
  check(real<decltype(nvJitLinkComplete)>("nvJitLinkComplete")(handle_));
}

std::string RealLink::ptx() const {
  std::string text =
      result("nvJitLinkGetLinkedPtxSize", "nvJitLinkGetLinkedPtx");
  text.erase(text.find_last_not_of('\0') + 1);
  return text;
}

std::string RealLink::intermediate() const {
  return result("nvJitLinkGetLinkedLTOIRSize", "nvJitLinkGetLinkedLTOIR");
}

std::string RealLink::result(const char* measure, const char* get) const {
  std::size_t size = 0;
  check(real<Measure>(measure)(handle_, &size));
  std::string bytes(size, '\0');
  check(real<Get>(get)(handle_, bytes.data()));
  return bytes;
}

void RealLink::check(nvJitLinkResult status) const {
  if (status == NVJITLINK_SUCCESS) {
    return;
  }
  std::string log;
  std::size_t size = 0;
  if (handle_ != nullptr &&
      real<Measure>("nvJitLinkGetErrorLogSize")(handle_, &size) ==
          NVJITLINK_SUCCESS) {
    log.resize(size);
    real<Get>("nvJitLinkGetErrorLog")(handle_, log.data());
    log.erase(log.find_last_not_of('\0') + 1);
  }
  throw Failure(status, log);
}

} // namespace accelerator::nvjitlink
