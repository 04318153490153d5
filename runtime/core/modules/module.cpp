#include "runtime/core/modules/module.h"

#include <algorithm>
#include <cstring>
#include <mutex>

#include "runtime/code/fatbin/fatbin.h"
#include "runtime/code/linker/device_runtime.h"
#include "runtime/code/linker/linker.h"
#include "runtime/code/linker/register_limit.h"
#include "runtime/core/backends/api_status.h"
#include "runtime/core/machine/device.h"
#include "runtime/core/machine/machine.h"
#include "runtime/core/modules/launching.h"

namespace accelerator::runtime {
namespace {

constexpr std::uint32_t kWrapperMagic = 0x466243b1;
constexpr std::uint32_t kFatBinaryMagic = 0xba55ed50;
constexpr std::uint32_t kWrapperOfParts = 2; // version

constexpr const char* kLaunching = "cudadevrt"; // for the linker's messages

// What nvcc puts into a program for each fat binary (section .nvFatBinSegment).
struct Wrapper {
  std::uint32_t magic;
  std::uint32_t version;
  const void* data;
  const void* file_name_or_parts; // by the version
};

// The PTX in a fat binary for a device.
std::string select(
    const void* fat_binary,
    std::size_t size,
    const Device& device,
    const std::string& source_name) {
  try {
    return fatbin::select_ptx(fat_binary, device.capability(), size);
  } catch (const fatbin::DamagedError& error) {
    throw Failure(
        cudaErrorInvalidKernelImage, source_name + ": " + error.what());
  } catch (const fatbin::FatbinError& error) {
    throw Failure(
        cudaErrorNoKernelImageForDevice, source_name + ": " + error.what());
  }
}

// The PTX of inputs that `add` gives to a linker. What nobody defines stays
// undefined: it stops the kernel that calls it.
template <typename Add>
std::string link(const std::string& source_name, Add&& add) {
  try {
    linker::Linker linker(linker::Linker::Undefined::kLeft);
    add(linker);
    return linker.link();
  } catch (const fatbin::DamagedError& error) {
    throw Failure(
        cudaErrorInvalidKernelImage, source_name + ": " + error.what());
  } catch (const linker::SyntaxError& error) {
    throw Failure(cudaErrorInvalidPtx, error.what());
  } catch (const linker::LinkError& error) {
    throw Failure(cudaErrorInvalidSource, error.what());
  }
}

// A device that runs no such code has been asked for a kernel. What is found
// and what is needed is the same each time: programs that ask for one kernel
// ask for many, and are told once.
[[noreturn]] void fail_without_code(const std::string& message) {
  static std::once_flag told;
  std::string text;
  std::call_once(told, [&] { text = message; });
  throw Failure(cudaErrorNoKernelImageForDevice, text);
}

KernelInfo read_info(const accel_api& api, accel_kernel kernel) {
  accel_kernel_properties figures{};
  figures.struct_size = sizeof(figures);
  check(api, api.kernel_properties(kernel, &figures));
  KernelInfo info;
  info.parameters.assign(
      figures.parameters, figures.parameters + figures.parameter_count);
  info.parameter_bytes = figures.parameter_bytes;
  info.static_shared_bytes = figures.static_shared_bytes;
  info.constant_bytes = figures.constant_bytes;
  info.local_bytes = figures.local_bytes;
  info.registers = figures.registers;
  info.max_threads = figures.max_threads;
  info.code_version = figures.code_version;
  info.required_threads = {
      figures.required_threads[0],
      figures.required_threads[1],
      figures.required_threads[2]};
  return info;
}

// What a library's module has in it.
void read_contents(LoadedModule& loaded) {
  const accel_api& api = *loaded.api;
  const char* name = nullptr;
  for (std::uint32_t i = 0;
       api.module_kernel_name_at(loaded.native, i, &name) == ACCEL_OK;
       ++i) {
    loaded.kernel_names.emplace_back(name);
  }
  accel_variable variable{};
  variable.struct_size = sizeof(variable);
  for (std::uint32_t i = 0;
       api.module_variable_at(loaded.native, i, &variable) == ACCEL_OK;
       ++i) {
    loaded.variables[variable.name] = {
        variable.name,
        reinterpret_cast<std::uint64_t>(variable.address),
        variable.bytes,
        variable.constant != 0};
  }
}

// Where a variable of a module begins, when it is entered as a piece of memory.
bool is_own(const Device& device, const Symbol& variable, AddressMap& map) {
  const auto piece = map.find(variable.address);
  return piece && piece->space == Space::kVariable &&
      piece->device == device.ordinal() && piece->begin == variable.address;
}

} // namespace

Function::Function(Module& module, std::string name)
    : module_(module),
      name_(std::move(name)),
      devices_(static_cast<std::size_t>(machine().device_count())) {}

const LoadedKernel& Function::on(Device& device) {
  const LoadedKernel* ready = find_ready(device);
  if (ready == nullptr && !device.runs(ACCEL_CODE_PTX)) {
    fail_without_code(name_ + ": " + module_.no_code_text(device));
  }
  return ready != nullptr ? *ready : load(device);
}

const LoadedKernel& Function::to_launch(Device& device) {
  if (const LoadedKernel* ready = find_ready(device)) {
    return *ready;
  }
  try {
    if (!device.runs(ACCEL_CODE_PTX)) {
      throw Failure(
          cudaErrorNoKernelImageForDevice, module_.no_code_text(device));
    }
    return load(device);
  } catch (const Failure& failure) {
    if (failure.status() == cudaErrorMemoryAllocation ||
        device.fault() != cudaSuccess) {
      throw;
    }
    device.set_fault(failure.status());
    throw Failure(
        failure.status(),
        "launch of the kernel " + name_ + " on device " +
            std::to_string(device.ordinal()) + ": " +
            (failure.message().empty() ? module_.source_name()
                                       : failure.message()) +
            "\nthe kernel did not run, so every later call on this device fails "
            "until cudaDeviceReset");
  }
}

std::size_t Function::dynamic_shared_limit(Device& device) {
  const int opted = max_dynamic_shared;
  const std::uint64_t statically = on(device).info.static_shared_bytes;
  const std::uint64_t most = device.properties().sharedMemPerBlock;
  return opted >= 0 ? static_cast<std::size_t>(opted)
                    : most - std::min(most, statically);
}

const LoadedKernel* Function::find_ready(const Device& device) const {
  const OnDevice& here = devices_[static_cast<std::size_t>(device.ordinal())];
  return here.ready.load(std::memory_order_acquire) ? &here.loaded : nullptr;
}

const LoadedKernel& Function::load(Device& device) {
  OnDevice& here = devices_[static_cast<std::size_t>(device.ordinal())];
  LoadedKernel& loaded = here.loaded;
  const std::lock_guard lock(mutex_);
  if (here.ready) {
    return loaded;
  }
  const LoadedModule& module = module_.on(device);
  const accel_status status =
      module.api->module_kernel(module.native, name_.c_str(), &loaded.native);
  if (status == ACCEL_NOT_FOUND) {
    throw Failure(
        cudaErrorInvalidDeviceFunction,
        module_.source_name() + " has no kernel " + name_ + " for " +
            device.properties().name);
  }
  check(*module.api, status);
  loaded.info = read_info(*module.api, loaded.native);
  here.ready.store(true, std::memory_order_release);
  return loaded;
}

Module::Module(Image image, std::string source_name)
    : image_(std::move(image)), source_name_(std::move(source_name)) {}

Module::~Module() {
  AddressMap& map = machine().addresses();
  for (const auto& [ordinal, loaded] : loaded_) {
    if (loaded.native == nullptr) {
      continue; // it could not be loaded
    }
    forget_limits(ordinal, loaded);
    for (const auto& [name, variable] : loaded.variables) {
      if (is_own(machine().device(ordinal), variable, map)) {
        map.erase(variable.address);
      }
    }
    loaded.api->module_unload(loaded.native);
  }
}

std::string Module::no_code_text(const Device& device) const {
  return source_name_ + " has " + contents() + ", and the device " +
      device.properties().name +
      " runs no PTX: needed is a device that does, or an operator that is "
      "routed to another kernel";
}

std::string Module::contents() const {
  if (image_.fat_binary == nullptr) {
    return "PTX";
  }
  try {
    if (image_.parts == nullptr) {
      return fatbin::list_text(fatbin::list_entries(image_.fat_binary));
    }
    std::vector<fatbin::Entry> entries;
    for (const void* const* part = image_.parts; *part != nullptr; ++part) {
      const auto more = fatbin::list_entries(*part);
      entries.insert(entries.end(), more.begin(), more.end());
    }
    return fatbin::list_text(entries);
  } catch (const fatbin::FatbinError& error) {
    return error.what();
  }
}

std::optional<std::string> Module::made_text(Device& device) const {
  std::optional<std::string> made;
  if (image_.parts != nullptr) {
    made = linked_text(device);
  } else if (image_.fat_binary != nullptr) {
    made =
        select(image_.fat_binary, fatbin::kUnknownSize, device, source_name_);
  }
  const auto ptx = [&]() -> const std::string& {
    return made ? *made : image_.ptx;
  };
  const bool launches = image_.parts == nullptr && mentions_launching(ptx());
  if (image_.parts == nullptr &&
      (launches || linker::mentions_device_runtime(ptx()))) {
    made = link(source_name_, [&](linker::Linker& linker) {
      linker.add(source_name_, ptx());
      if (launches) {
        linker.add(kLaunching, launching_functions(device, ptx()));
      }
    });
  }
  if (max_registers_ > 0) {
    try {
      made = linker::limit_registers(source_name_, ptx(), max_registers_);
    } catch (const linker::SyntaxError&) {
      // What is no PTX stays as it is: the device says where it goes wrong.
    }
  }
  return made;
}

std::string Module::linked_text(Device& device) const {
  return link(source_name_, [&](linker::Linker& linker) {
    std::vector<fatbin::Entry> others; // PTX for other devices
    std::string launching; // PTX of kernels that launch kernels
    for (const void* const* part = image_.parts; *part != nullptr; ++part) {
      bool is_for_device = false;
      for (const fatbin::Entry& entry : fatbin::list_entries(*part)) {
        if (entry.is_ptx_for(device.capability())) {
          is_for_device = true;
        } else if (entry.kind == fatbin::Entry::Kind::kPtx) {
          others.push_back(entry);
        }
      }
      // libcudadevrt's has machine code, and PTX for the newest devices.
      if (is_for_device) {
        const std::string name =
            source_name_ + ", part " + std::to_string(part - image_.parts);
        const std::string ptx =
            select(*part, fatbin::kUnknownSize, device, name);
        if (linker::is_cudadevrt(ptx)) {
          continue;
        }
        launching += mentions_launching(ptx) ? ptx : "";
        linker.add(name, ptx);
      }
    }
    if (linker.inputs() == 0) {
      throw Failure(
          cudaErrorNoKernelImageForDevice,
          source_name_ + ": " +
              fatbin::no_ptx_text(
                  device.capability(),
                  others.empty() ? "the objects that are linked here have none"
                                 : "the objects that are linked here have " +
                          fatbin::list_text(others)));
    }
    if (!launching.empty()) {
      linker.add(kLaunching, launching_functions(device, launching));
    }
  });
}

const LoadedModule& Module::on(Device& device) {
  const std::lock_guard lock(mutex_);
  LoadedModule& loaded = loaded_[device.ordinal()];
  if (loaded.native != nullptr) {
    return loaded;
  }
  if (!device.runs(ACCEL_CODE_PTX)) {
    fail_without_code(no_code_text(device));
  }
  const std::optional<std::string> made = made_text(device);
  const std::string& ptx = made ? *made : image_.ptx;
  struct Place {
    Module& module;
    Device& device;
  } place{*this, device};
  accel_image image{};
  image.struct_size = sizeof(image);
  image.format = ACCEL_CODE_PTX;
  image.code = ptx.c_str();
  image.bytes = ptx.size();
  image.source_name = source_name_.c_str();
  // A program that gives PTX to the driver expects all of it to be checked; of
  // the libraries that are linked to a program few kernels are used.
  image.check_all = image_.fat_binary == nullptr ? 1 : 0;
  image.place_data = &place;
  image.place = [](void* data,
                   const char* name,
                   std::uint64_t bytes,
                   std::uint64_t) -> void* {
    auto* where = static_cast<Place*>(data);
    try {
      return where->module.place(where->device, name, bytes);
    } catch (const Failure&) {
      return nullptr;
    }
  };
  accel_module native = nullptr;
  check(
      device.api(),
      device.api().module_load(device.slot().index, &image, &native));
  loaded.api = &device.api();
  loaded.native = native;
  read_contents(loaded);
  note_limits(device, loaded);
  for (const auto& [name, variable] : loaded.variables) {
    if (managed_.count(name) == 0 && variable.size > 0) {
      Allocation allocation;
      allocation.begin = variable.address;
      allocation.end = variable.address + variable.size;
      allocation.space = Space::kVariable;
      allocation.device = device.ordinal();
      allocation.library = loaded.api;
      machine().addresses().insert(allocation);
    }
  }
  return loaded;
}

// Managed variables have one home for all devices.
void* Module::place(
    Device& device,
    const std::string& name,
    std::uint64_t bytes) {
  const auto managed = managed_.find(name);
  if (managed == managed_.end()) {
    return nullptr;
  }
  if (managed->second.home == nullptr) {
    managed->second.home = allocate_host(
        machine().addresses(),
        bytes,
        Space::kManaged,
        device.ordinal(),
        device.slot(),
        cudaMemAttachGlobal);
    *managed->second.address = managed->second.home;
  }
  return managed->second.home;
}

std::shared_ptr<Function> Module::function(const std::string& name) {
  const std::lock_guard lock(mutex_);
  auto& function = functions_[name];
  if (function == nullptr) {
    function = std::make_unique<Function>(*this, name);
  }
  return {shared_from_this(), function.get()};
}

const Symbol& Module::variable(Device& device, const std::string& name) {
  const auto& variables = on(device).variables;
  const auto found = variables.find(name);
  require(found != variables.end(), cudaErrorInvalidSymbol);
  return found->second;
}

void Module::add_managed(std::string name, void** address) {
  const std::lock_guard lock(mutex_);
  managed_[std::move(name)] = {address};
}

Module::Image unwrap_fat_binary(const void* wrapper) {
  const auto* fields = static_cast<const Wrapper*>(wrapper);
  require(
      fields != nullptr && fields->magic == kWrapperMagic &&
          fields->data != nullptr,
      cudaErrorInvalidKernelImage);
  Module::Image image;
  image.fat_binary = fields->data;
  if (fields->version == kWrapperOfParts) {
    image.parts = static_cast<const void* const*>(fields->file_name_or_parts);
  }
  return image;
}

namespace {

// @param size bytes of the image; fatbin::kUnknownSize for one in memory, whose
// text ends in a NUL.
std::shared_ptr<Module> make_module_of(
    const void* image,
    std::size_t size,
    std::string source_name) {
  const auto* bytes = static_cast<const char*>(image);
  std::uint32_t magic = 0;
  // Text may be shorter than four bytes; strnlen stops at its end.
  const std::size_t length = strnlen(bytes, std::min(size, sizeof(magic)));
  std::memcpy(&magic, image, length);
  if (length == 4 && std::memcmp(image, "\177ELF", 4) == 0) {
    const Device& device = selected_device();
    throw Failure(
        cudaErrorNoKernelImageForDevice,
        source_name + ": found machine code (a cubin), " +
            (device.runs(ACCEL_CODE_PTX)
                 ? "but devices take PTX here: compile for a virtual "
                   "architecture such as compute_80"
                 : std::string("and the device ") + device.properties().name +
                     " runs no kernels: needed is one that runs PTX, such as "
                     "the simulated GPU (TORCH_CUDA_DEVICES=sim)"));
  }
  if (fatbin::is_lto_ir(&magic, length)) {
    throw Failure(
        cudaErrorInvalidKernelImage,
        source_name + ": " + fatbin::lto_ir_text());
  }
  Module::Image parts;
  if (magic == kWrapperMagic) {
    require(size == fatbin::kUnknownSize, cudaErrorInvalidKernelImage);
    parts = unwrap_fat_binary(image);
  } else if (magic == kFatBinaryMagic) {
    // The caller may free its image after loading.
    parts.ptx = select(image, size, selected_device(), source_name);
  } else {
    parts.ptx.assign(bytes, strnlen(bytes, size));
  }
  return std::make_shared<Module>(std::move(parts), std::move(source_name));
}

} // namespace

std::shared_ptr<Module> make_module(
    const void* image,
    std::string source_name) {
  require(image != nullptr);
  return make_module_of(image, fatbin::kUnknownSize, std::move(source_name));
}

std::shared_ptr<Module> make_module(
    const std::string& content,
    std::string source_name) {
  return make_module_of(content.data(), content.size(), std::move(source_name));
}

} // namespace accelerator::runtime
