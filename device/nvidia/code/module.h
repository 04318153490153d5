// Modules of the driver's, and what is known of their kernels and variables.
#pragma once

#include <cuda.h>

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "device/abi/device_api.h"
#include "device/nvidia/devices/device.h"

struct accel_kernel_object {
  accelerator::nvidia::Device& device;
  CUfunction native;
  std::vector<accel_parameter> parameters;
  std::uint32_t parameter_bytes;
  std::mutex mutex;
  std::uint64_t dynamic_shared; // bytes that a launch may ask for
};

struct accel_module_object {
 public:
  /// @throws accelerator::nvidia::Error: what is wrong with the code, with the
  /// driver's words.
  accel_module_object(
      accelerator::nvidia::Device& device,
      const accel_image& image);
  /// Launches that are in streams are still done.
  ~accel_module_object();
  accel_module_object(const accel_module_object&) = delete;
  accel_module_object& operator=(const accel_module_object&) = delete;

  accelerator::nvidia::Device& device() const {
    return device_;
  }
  /// @throws accelerator::nvidia::Error: ACCEL_NOT_FOUND.
  accel_kernel kernel(const std::string& name);
  const std::vector<accel_variable>& variables() const {
    return variables_;
  }
  const std::vector<std::string>& kernel_names() const {
    return kernel_names_;
  }

 private:
  void read_kernels();
  void read_variables(const std::string& ptx);

  accelerator::nvidia::Device& device_;
  const std::string source_name_;
  CUmodule native_ = nullptr;
  std::vector<std::string> kernel_names_;
  std::vector<std::string> variable_names_;
  std::vector<accel_variable> variables_;
  std::mutex mutex_;
  std::map<std::string, std::unique_ptr<accel_kernel_object>> kernels_;
};
