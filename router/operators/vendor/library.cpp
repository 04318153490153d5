// Finds and opens vendors' libraries of operators.
#include "router/operators/vendor/library.h"

#include "router/operators/dispatch/runtime.h"
#include "router/operators/vendor/file.h"
#include "router/operators/vendor/submit.h"
#include "router/operators/vendor/table.h"

#include <ATen/core/dispatch/Dispatcher.h>
#include <c10/cuda/CUDAFunctions.h>
#include <c10/util/Exception.h>
#include <dlfcn.h>

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

namespace torch_cuda::operators::vendor {
namespace {

// runtime/core/machine/capabilities_api.h
using DeviceLibrary = int (*)(int device, const char** name, const char** file);

std::map<std::string, std::string>& announced() {
  static auto* files = new std::map<std::string, std::string>;
  return *files;
}

// Where the operators of a device library are; nothing: it has none.
std::optional<std::string> file_of(
    const std::string& name,
    const std::string& device_library) {
  const auto found = announced().find(name);
  if (found != announced().end()) {
    return found->second;
  }
  return operators_beside(name, device_library, TORCH_CUDA_VENDOR_TORCH);
}

// "add.out" or "my::op.overload"
c10::OperatorName parse(const std::string& text) {
  const auto colons = text.find("::");
  const auto begin = colons == std::string::npos ? 0 : colons + 2;
  const auto dot = text.find('.', begin);
  auto name = text.substr(0, dot);
  return {
      colons == std::string::npos ? "aten::" + name : std::move(name),
      dot == std::string::npos ? "" : text.substr(dot + 1)};
}

class LibraryTable final : public torch_cuda::vendor::Table {
 public:
  explicit LibraryTable(std::vector<Kernel>& kernels) : kernels_(kernels) {}

  void submit(c10::DeviceIndex device, torch_cuda::vendor::Work work) override {
    vendor::submit(device, std::move(work));
  }

 protected:
  void add(
      const char* name,
      c10::KernelFunction kernel,
      std::optional<c10::impl::CppSignature> signature,
      std::unique_ptr<c10::FunctionSchema> inferred) override {
    auto op = parse(name);
    TORCH_CHECK(
        c10::Dispatcher::singleton().findSchema(op).has_value(),
        "it has a kernel of ",
        name,
        ", and this PyTorch has no operator of that name");
    for (const auto& other : kernels_) {
      TORCH_CHECK(other.op != op, "it has two kernels of ", name);
    }
    kernels_.push_back(
        {std::move(op),
         std::move(kernel),
         std::move(signature),
         std::move(inferred)});
  }

 private:
  // Of use while the library registers.
  std::vector<Kernel>& kernels_;
};

void open(Library& library) {
  // Before its initialisers run, which another PyTorch may not survive.
  const auto reason = why_not_opened(library.file, TORCH_CUDA_VENDOR_TORCH);
  if (!reason.empty()) {
    refuse(library, reason);
  }
  // It stays loaded: its kernels are in the dispatcher.
  void* opened = dlopen(library.file.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (opened == nullptr) {
    refuse(library, dlerror());
  }
  const auto entry = reinterpret_cast<void (*)(torch_cuda::vendor::Table*)>(
      dlsym(opened, kEntryPoint));
  if (entry == nullptr) {
    refuse(
        library,
        std::string("it has no function ") + kEntryPoint +
            ". Build it with TORCH_CUDA_OPERATORS of the table.h that this "
            "torch_cuda brings.");
  }
  try {
    // Never destroyed: the library submits work with it.
    entry(new LibraryTable(library.kernels));
  } catch (const c10::Error& error) {
    refuse(library, error.what_without_backtrace());
  }
}

} // namespace

std::vector<Library> open_libraries() {
  std::vector<Library> found;
  const auto library_of = reinterpret_cast<DeviceLibrary>(
      runtime_function("accelerator_device_library"));
  if (library_of == nullptr) {
    return found;
  }
  const auto count = static_cast<c10::DeviceIndex>(c10::cuda::device_count());
  for (c10::DeviceIndex device = 0; device < count; ++device) {
    const char* name = nullptr;
    const char* file = nullptr;
    TORCH_CHECK(
        library_of(device, &name, &file) == 0,
        "torch_cuda: the runtime does not say whose device cuda:",
        static_cast<int>(device),
        " is");
    auto operators = file_of(name, file);
    if (!operators) {
      continue;
    }
    auto library =
        std::find_if(found.begin(), found.end(), [name](const Library& other) {
          return other.name == name;
        });
    if (library == found.end()) {
      library =
          found.insert(found.end(), {name, *std::move(operators), {}, {}});
    }
    library->devices.push_back(device);
  }
  for (auto& library : found) {
    open(library);
  }
  return found;
}

void refuse(const Library& library, const std::string& reason) {
  TORCH_CHECK(
      false,
      "torch_cuda: the operators of device library ",
      library.name,
      ", ",
      library.file,
      ", cannot be used: ",
      reason);
}

} // namespace torch_cuda::operators::vendor

void torch_cuda_announce_operators(const char* name, const char* file) {
  torch_cuda::operators::vendor::announced()[name] = file;
}
