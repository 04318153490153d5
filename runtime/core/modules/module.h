// Modules: code from a fat binary or from text, loaded on each device when it
// is first needed there, and the kernels in it.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "device/abi/device_api.h"
#include "runtime/core/modules/kernel_info.h"

namespace accelerator::runtime {

class Device;
class Module;

/// A kernel that is ready to run on one device.
struct LoadedKernel {
  accel_kernel native = nullptr;
  KernelInfo info;
};

/// A kernel of a module, the same on all devices.
class Function {
 public:
  Function(Module& module, std::string name);

  Module& module() const {
    return module_;
  }
  const std::string& name() const {
    return name_;
  }
  /// The kernel on a device; loads the module and lowers the kernel when it is
  /// the first time.
  /// @throws Failure: cudaErrorInvalidDeviceFunction, cudaErrorInvalidPtx,
  /// cudaErrorNotSupported or cudaErrorNoKernelImageForDevice, with the reason.
  const LoadedKernel& on(Device& device);
  /// The same for a launch. One without code writes nothing, and a program that
  /// does not look at its status would read what is in the memory instead: the
  /// device is at fault from then on, with the status that is thrown.
  /// @throws Failure as on(), with a text that names the kernel.
  const LoadedKernel& to_launch(Device& device);

  /// Bytes of dynamic shared memory that a launch may ask for: what was set, or
  /// what a block has without being asked for.
  std::size_t dynamic_shared_limit(Device& device);

  /// cudaFuncAttributeMaxDynamicSharedMemorySize; -1 while not set.
  std::atomic<int> max_dynamic_shared{-1};
  /// cudaFuncAttributePreferredSharedMemoryCarveout, in percent; -1: none.
  /// Counts for occupancy only.
  std::atomic<int> carveout{-1};

 private:
  struct OnDevice {
    std::atomic<bool> ready{false};
    LoadedKernel loaded;
  };

  // Null until it is loaded there.
  const LoadedKernel* find_ready(const Device& device) const;
  const LoadedKernel& load(Device& device);

  Module& module_;
  std::string name_;
  std::mutex mutex_;
  std::vector<OnDevice> devices_; // by number
};

/// A module on one device.
struct LoadedModule {
  const accel_api* api = nullptr;
  accel_module native = nullptr;
  std::vector<std::string> kernel_names;
  std::map<std::string, Symbol> variables;
};

class Module : public std::enable_shared_from_this<Module> {
 public:
  /// What the module is made of. For a fat binary the PTX for the device is
  /// selected when it is loaded.
  struct Image {
    const void* fat_binary = nullptr; // stays the caller's, or:
    std::string ptx;
    /// Of a program that was compiled with -rdc=true: the fat binaries of its
    /// objects, whose PTX is to be linked; null behind the last. With
    /// fat_binary, and the caller's as that.
    const void* const* parts = nullptr;
  };

  /// @param source_name for messages: library, file or "cuModuleLoadData".
  Module(Image image, std::string source_name);
  ~Module();
  Module(const Module&) = delete;
  Module& operator=(const Module&) = delete;

  const std::string& source_name() const {
    return source_name_;
  }

  /// What it is made of.
  const Image& image() const {
    return image_;
  }

  /// Lets kernels take at most so many registers a thread; 0: as many as they
  /// need. To be called before the module is loaded.
  void limit_registers(unsigned most) {
    max_registers_ = most;
  }

  /// What is said of it for a device that runs no PTX: what it has, and what is
  /// needed.
  std::string no_code_text(const Device& device) const;

  /// The module on a device, loaded when it is the first time.
  /// @throws Failure as Function::on().
  const LoadedModule& on(Device& device);

  /// The kernel of that name, which need not exist until it is used.
  std::shared_ptr<Function> function(const std::string& name);

  /// A variable on a device.
  /// @throws Failure: cudaErrorInvalidSymbol.
  const Symbol& variable(Device& device, const std::string& name);

  /// Gives a variable one home for all devices (__managed__). To be called
  /// before the module is loaded. Its address is stored in *address then.
  void add_managed(std::string name, void** address);
  bool has_managed() const {
    return !managed_.empty();
  }

 private:
  struct Managed {
    void** address;
    void* home = nullptr; // null: not yet allocated
  };

  std::string contents() const;
  /// The PTX for a device; nothing when that is the image's as it is, of which
  /// there can be megabytes.
  std::optional<std::string> made_text(Device& device) const;
  std::string linked_text(Device& device) const;
  void* place(Device& device, const std::string& name, std::uint64_t bytes);

  Image image_;
  std::string source_name_;
  unsigned max_registers_ = 0;
  std::mutex mutex_;
  std::map<int, LoadedModule> loaded_; // by device
  std::unordered_map<std::string, std::unique_ptr<Function>> functions_;
  std::unordered_map<std::string, Managed> managed_;
};

/// A module from what cuModuleLoadData is given: a fat binary, nvcc's wrapper
/// around one, or PTX text that ends in a NUL.
/// @throws Failure: cudaErrorNoKernelImageForDevice for machine code,
/// cudaErrorInvalidKernelImage for a damaged fat binary and for LTO IR.
std::shared_ptr<Module> make_module(const void* image, std::string source_name);

/// The same from a file's content, of which nothing is read beyond its end.
/// nvcc's wrapper is no file: it holds addresses.
std::shared_ptr<Module> make_module(
    const std::string& content,
    std::string source_name);

/// What nvcc's wrapper (magic number 0x466243b1) points to.
/// @throws Failure: cudaErrorInvalidKernelImage when it is no wrapper.
Module::Image unwrap_fat_binary(const void* wrapper);

} // namespace accelerator::runtime
