#include "cudasim/device/modules/module.h"

#include <algorithm>
#include <cstring>
#include <new>

#include "cudasim/device/machine/device.h"
#include "cudasim/device/machine/machine.h"
#include "cudasim/fatbin/fatbin.h"
#include "cudasim/ptx/parser.h"

namespace cudasim::device {
namespace {

constexpr std::uint32_t kWrapperMagic = 0x466243b1;
constexpr std::uint32_t kFatBinaryMagic = 0xba55ed50;

// What nvcc puts into a program for each fat binary (section .nvFatBinSegment).
struct Wrapper {
  std::uint32_t magic;
  std::uint32_t version;
  const void* data;
  const void* file_name_or_list;
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

// What parser and lowering throw, as CUDA's status.
template <typename Body>
auto translated(Body&& body) {
  try {
    return body();
  } catch (const ptx::ParseError& error) {
    throw Failure(cudaErrorInvalidPtx, error.what());
  } catch (const engine::LoweringError& error) {
    throw Failure(cudaErrorNotSupported, error.what());
  } catch (const std::bad_alloc&) {
    throw Failure(cudaErrorMemoryAllocation);
  }
}

} // namespace

Function::Function(Module& module, std::string name)
    : module_(module), name_(std::move(name)) {}

const LoadedKernel& Function::on(Device& device) {
  const auto index = static_cast<std::size_t>(device.ordinal());
  LoadedKernel& loaded = loaded_[index];
  if (ready_[index].load(std::memory_order_acquire)) {
    return loaded;
  }
  const std::lock_guard lock(mutex_);
  if (ready_[index]) {
    return loaded;
  }
  engine::Program& program = module_.program(device);
  const engine::Kernel* kernel =
      translated([&] { return program.kernel(name_); });
  if (kernel == nullptr) {
    throw Failure(
        cudaErrorInvalidDeviceFunction,
        module_.source_name() + " has no kernel " + name_ + " for " +
            device.properties().name);
  }
  loaded = {&program, kernel, &program.info(*kernel)};
  ready_[index].store(true, std::memory_order_release);
  return loaded;
}

Module::Module(Image image, std::string source_name)
    : image_(std::move(image)), source_name_(std::move(source_name)) {}

Module::~Module() {
  programs_.clear();
  for (const auto& [ordinal, address] : variables_) {
    machine().device(ordinal).memory().release(address);
  }
}

std::string Module::text(Device& device) const {
  if (image_.fat_binary == nullptr) {
    return image_.ptx;
  }
  return select(image_.fat_binary, fatbin::kUnknownSize, device, source_name_);
}

engine::Program& Module::program(Device& device) {
  const std::lock_guard lock(mutex_);
  auto& program = programs_[device.ordinal()];
  if (program == nullptr) {
    std::string ptx = text(device);
    program = translated([&] {
      return engine::Program::load(
          std::move(ptx),
          source_name_,
          [&](std::uint64_t bytes,
              std::uint64_t alignment,
              bool read_only,
              std::string_view name) {
            return allocate(device, bytes, alignment, read_only, name);
          },
          resolve,
          image_.fat_binary != nullptr ? engine::Program::Verify::kAtFirstUse
                                       : engine::Program::Verify::kAtLoad);
    });
  }
  return *program;
}

std::uint64_t Module::allocate(
    Device& device,
    std::uint64_t bytes,
    std::uint64_t alignment,
    bool read_only,
    std::string_view name) {
  const auto managed = managed_.find(std::string(name));
  if (managed != managed_.end()) {
    if (managed->second.home == 0) {
      void* home = allocate_host(
          machine().addresses(),
          bytes,
          Space::kManaged,
          device.ordinal(),
          cudaMemAttachGlobal);
      managed->second.home = reinterpret_cast<std::uint64_t>(home);
      *managed->second.address = home;
    }
    return managed->second.home;
  }
  try {
    const std::uint64_t address = device.memory().allocate(
        bytes, alignment, Space::kVariable, read_only, std::string(name));
    variables_.emplace_back(device.ordinal(), address);
    return address;
  } catch (const Failure&) {
    throw std::bad_alloc(); // the contract of engine::Program::Allocate
  }
}

std::shared_ptr<Function> Module::function(const std::string& name) {
  const std::lock_guard lock(mutex_);
  auto& function = functions_[name];
  if (function == nullptr) {
    function = std::make_unique<Function>(*this, name);
  }
  return {shared_from_this(), function.get()};
}

const engine::Symbol& Module::variable(
    Device& device,
    const std::string& name) {
  const engine::Symbol* symbol = program(device).symbol(name);
  require(symbol != nullptr, cudaErrorInvalidSymbol);
  return *symbol;
}

void Module::add_managed(std::string name, void** address) {
  const std::lock_guard lock(mutex_);
  managed_[std::move(name)] = {address};
}

const void* unwrap_fat_binary(const void* wrapper) {
  const auto* parts = static_cast<const Wrapper*>(wrapper);
  require(
      parts != nullptr && parts->magic == kWrapperMagic &&
          parts->data != nullptr,
      cudaErrorInvalidKernelImage);
  return parts->data;
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
    throw Failure(
        cudaErrorNoKernelImageForDevice,
        source_name +
            ": found machine code (a cubin), but the simulated device runs "
            "PTX: compile for a virtual architecture such as compute_80");
  }
  Module::Image parts;
  if (magic == kWrapperMagic) {
    require(size == fatbin::kUnknownSize, cudaErrorInvalidKernelImage);
    parts.fat_binary = unwrap_fat_binary(image);
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

} // namespace cudasim::device
