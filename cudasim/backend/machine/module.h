// PTX loaded on a device, and the kernels in it.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "cudasim/engine/module/module.h"
#include "device/abi/device_api.h"

namespace cudasim::backend {

class Device;

/// A module with the memory of its variables; lives as long as a kernel of it
/// may run.
class LoadedModule {
 public:
  /// @throws Error: ACCEL_INVALID_CODE, ACCEL_NOT_SUPPORTED,
  /// ACCEL_OUT_OF_MEMORY.
  LoadedModule(Device& device, const accel_image& image);
  ~LoadedModule();
  LoadedModule(const LoadedModule&) = delete;
  LoadedModule& operator=(const LoadedModule&) = delete;

  Device& device() const {
    return device_;
  }
  engine::Module& module() const {
    return *module_;
  }

 private:
  Device& device_;
  std::vector<std::uint64_t> variables_; // where those that are its own begin
  std::shared_ptr<engine::Module> module_;
};

} // namespace cudasim::backend

/// A kernel that is ready to run.
struct accel_kernel_object {
  std::shared_ptr<cudasim::backend::LoadedModule> module;
  const cudasim::engine::Kernel* kernel;
  const cudasim::engine::KernelInfo* info;
};

struct accel_module_object {
  /// @throws Error as LoadedModule.
  accel_module_object(
      cudasim::backend::Device& device,
      const accel_image& image);

  /// A kernel, lowered when it is the first time.
  /// @throws Error: ACCEL_NOT_FOUND, ACCEL_INVALID_CODE, ACCEL_NOT_SUPPORTED.
  accel_kernel_object& kernel(const std::string& name);

  std::shared_ptr<cudasim::backend::LoadedModule> module;
  std::vector<cudasim::engine::Symbol> variables;
  std::vector<std::string> kernel_names;

 private:
  std::mutex mutex_;
  std::map<std::string, std::unique_ptr<accel_kernel_object>> kernels_;
};
