#include "accelerator/runtime/nvjitlink/link.h"

#include <cuda.h>
#include <dlfcn.h>

#include <algorithm>
#include <charconv>
#include <utility>

#include "accelerator/runtime/fatbin/containers.h"
#include "accelerator/runtime/fatbin/fatbin.h"
#include "accelerator/runtime/linker/register_limit.h"
#include "accelerator/runtime/real/real_library.h"

namespace accelerator::nvjitlink {
namespace {

constexpr std::string_view kRegisters = "-maxrregcount=";

// nvJitLink 12.4, "Supported link options". With "=" there is a value.
constexpr std::string_view kOptions[] = {
    "-arch=",
    kRegisters,
    "-time",
    "-verbose",
    "-lto",
    "-ptx",
    "-O",
    "-g",
    "-lineinfo",
    "-ftz=",
    "-prec-div=",
    "-prec-sqrt=",
    "-fma=",
    "-kernels-used=",
    "-variables-used=",
    "-optimize-unused-variables",
    "-Xptxas=",
    "-Xnvvm=",
    "-split-compile",
    "-jump-table-density=",
    "-no-cache",
    "-device-stack-protector",
};

bool begins_with(std::string_view text, std::string_view begin) {
  return text.substr(0, begin.size()) == begin;
}

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

/// A link of NVIDIA's library.
class RealLink {
 public:
  explicit RealLink(const std::vector<std::string>& options) {
    std::vector<const char*> pointers;
    for (const std::string& option : options) {
      pointers.push_back(option.c_str());
    }
    check(real<decltype(nvJitLinkCreate)>("nvJitLinkCreate")(
        &handle_,
        static_cast<std::uint32_t>(pointers.size()),
        pointers.data()));
  }
  ~RealLink() {
    real<decltype(nvJitLinkDestroy)>("nvJitLinkDestroy")(&handle_);
  }
  RealLink(const RealLink&) = delete;
  RealLink& operator=(const RealLink&) = delete;

  void add(const std::string& name, const std::string& data) {
    check(real<decltype(nvJitLinkAddData)>("nvJitLinkAddData")(
        handle_,
        NVJITLINK_INPUT_LTOIR,
        data.data(),
        data.size(),
        name.c_str()));
  }

  std::string ptx() {
    check(real<decltype(nvJitLinkComplete)>("nvJitLinkComplete")(handle_));
    std::size_t size = 0;
    check(real<decltype(nvJitLinkGetLinkedPtxSize)>(
        "nvJitLinkGetLinkedPtxSize")(handle_, &size));
    std::string text(size, '\0');
    check(real<decltype(nvJitLinkGetLinkedPtx)>("nvJitLinkGetLinkedPtx")(
        handle_, text.data()));
    return text;
  }

 private:
  void check(nvJitLinkResult status) const {
    if (status == NVJITLINK_SUCCESS) {
      return;
    }
    std::string log;
    std::size_t size = 0;
    if (handle_ != nullptr &&
        real<decltype(nvJitLinkGetErrorLogSize)>("nvJitLinkGetErrorLogSize")(
            handle_, &size) == NVJITLINK_SUCCESS) {
      log.resize(size);
      real<decltype(nvJitLinkGetErrorLog)>("nvJitLinkGetErrorLog")(
          handle_, log.data());
      log.erase(log.find_last_not_of('\0') + 1);
    }
    throw Failure(status, log);
  }

  nvJitLinkHandle handle_ = nullptr;
};

} // namespace

Link::Link(std::vector<std::string> options) : options_(std::move(options)) {
  for (const std::string& option : options_) {
    read_option(option);
  }
  if (capability_ == 0) {
    throw Failure(NVJITLINK_ERROR_MISSING_ARCH, "-arch=sm_NN is missing\n");
  }
}

void Link::read_option(const std::string& option) {
  const bool is_known = std::any_of(
      std::begin(kOptions), std::end(kOptions), [&](std::string_view known) {
        return begins_with(option, known);
      });
  if (!is_known) {
    throw Failure(
        NVJITLINK_ERROR_UNRECOGNIZED_OPTION,
        "there is no option " + option + "\n");
  }
  if (begins_with(option, kRegisters)) {
    std::from_chars(
        option.data() + kRegisters.size(),
        option.data() + option.size(),
        max_registers_);
  }
  if (begins_with(option, "-arch=")) {
    const std::size_t digits = option.find('_');
    if (digits != std::string::npos) {
      std::from_chars(
          option.data() + digits + 1,
          option.data() + option.size(),
          capability_);
    }
  }
}

void Link::add(
    nvJitLinkInputType type,
    std::string_view data,
    const std::string& name) {
  try {
    if (type == NVJITLINK_INPUT_LTOIR) {
      intermediate_.push_back({name, std::string(data)});
    } else if (type == NVJITLINK_INPUT_PTX) {
      linker_.add(name, std::string(data));
    } else {
      const auto found = fatbin::find_ptx(data, name, capability_);
      const bool is_library = type == NVJITLINK_INPUT_LIBRARY ||
          (type == NVJITLINK_INPUT_ANY && begins_with(data, "!<arch>"));
      if (found.empty() && !is_library) {
        throw Failure(
            NVJITLINK_ERROR_INVALID_INPUT,
            name +
                " has no PTX for this device, which does not run machine "
                "code\n");
      }
      for (const auto& part : found) {
        if (is_library) {
          linker_.add_library_part(part.name, part.ptx);
        } else {
          linker_.add(part.name, part.ptx);
        }
      }
    }
  } catch (const linker::SyntaxError& error) {
    throw Failure(
        NVJITLINK_ERROR_PTX_COMPILE, std::string(error.what()) + "\n");
  } catch (const linker::LinkError& error) {
    throw Failure(NVJITLINK_ERROR_INVALID_INPUT, error.what());
  } catch (const fatbin::FatbinError& error) {
    throw Failure(
        NVJITLINK_ERROR_INVALID_INPUT, std::string(error.what()) + "\n");
  }
}

// The PTX of all LTO IR: NVIDIA's library writes it, when there is no other
// input.
std::string Link::compiled() const {
  std::vector<std::string> options;
  for (const std::string& option : options_) {
    if (option != "-ptx" && option != "-lto") {
      options.push_back(option);
    }
  }
  options.emplace_back("-lto");
  options.emplace_back("-ptx");
  RealLink real(options);
  for (const Input& input : intermediate_) {
    real.add(input.name, input.data);
  }
  return real.ptx();
}

void Link::complete() {
  try {
    if (!intermediate_.empty()) {
      linker_.add("lto", compiled());
      intermediate_.clear();
    }
    if (linker_.inputs() > 0) {
      ptx_ = linker::limit_registers("linked", linker_.link(), max_registers_);
    }
  } catch (const linker::SyntaxError& error) {
    throw Failure(
        NVJITLINK_ERROR_PTX_COMPILE, std::string(error.what()) + "\n");
  } catch (const linker::LinkError& error) {
    throw Failure(NVJITLINK_ERROR_INTERNAL, error.what());
  }
}

} // namespace accelerator::nvjitlink
