#include "device/nvidia/code/module.h"

#include <algorithm>

#include "device/nvidia/code/ptx_variables.h"
#include "device/nvidia/driver/error.h"

using accelerator::nvidia::Current;
using accelerator::nvidia::Device;
using accelerator::nvidia::driver;
using accelerator::nvidia::Error;
using accelerator::nvidia::require;

namespace {

// Loads with the driver's words on what is wrong.
CUmodule load(const std::string& ptx, const std::string& source_name) {
  std::vector<char> words(8192);
  CUjit_option options[] = {
      CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
  void* values[] = {words.data(), reinterpret_cast<void*>(words.size() - 1)};
  CUmodule module = nullptr;
  const CUresult result =
      driver().cuModuleLoadDataEx(&module, ptx.c_str(), 2, options, values);
  try {
    accelerator::nvidia::check(result, "cuModuleLoadDataEx");
  } catch (const Error& error) {
    const std::string log = words.data();
    throw Error(
        error.status(),
        source_name + ": " + error.what() + (log.empty() ? "" : ": ") + log);
  }
  return module;
}

} // namespace

accel_module_object::accel_module_object(
    Device& device,
    const accel_image& image)
    : device_(device), source_name_(image.source_name) {
  require(
      image.format == ACCEL_CODE_PTX,
      ACCEL_NO_IMAGE_FOR_DEVICE,
      source_name_ + ": needed is PTX");
  const std::string ptx(static_cast<const char*>(image.code), image.bytes);
  device.require_health();
  const Current current(device);
  native_ = load(ptx, source_name_);
  try {
    read_kernels();
    read_variables(ptx);
  } catch (...) {
    driver().cuModuleUnload(native_);
    throw;
  }
}

accel_module_object::~accel_module_object() {
  device_.retire(native_);
}

void accel_module_object::read_kernels() {
  unsigned count = 0;
  ACCEL_DRIVER(cuModuleGetFunctionCount, &count, native_);
  std::vector<CUfunction> functions(count);
  if (count > 0) {
    ACCEL_DRIVER(cuModuleEnumerateFunctions, functions.data(), count, native_);
  }
  for (CUfunction function : functions) {
    const char* name = nullptr;
    ACCEL_DRIVER(cuFuncGetName, &name, function);
    kernel_names_.emplace_back(name);
  }
}

void accel_module_object::read_variables(const std::string& ptx) {
  const auto names = accelerator::nvidia::find_variables(ptx);
  variable_names_.reserve(names.size()); // their addresses are given away
  for (const auto& [name, constant] : names) {
    CUdeviceptr address = 0;
    std::size_t bytes = 0;
    // What nothing uses the driver may leave out.
    if (driver().cuModuleGetGlobal(&address, &bytes, native_, name.c_str()) !=
        CUDA_SUCCESS) {
      continue;
    }
    variable_names_.push_back(name);
    accel_variable variable{};
    variable.name = variable_names_.back().c_str();
    variable.address = reinterpret_cast<void*>(address);
    variable.bytes = bytes;
    variable.constant = constant ? 1 : 0;
    variables_.push_back(variable);
  }
}

accel_kernel accel_module_object::kernel(const std::string& name) {
  const std::lock_guard lock(mutex_);
  auto& known = kernels_[name];
  if (known != nullptr) {
    return known.get();
  }
  device_.require_health();
  const Current current(device_);
  CUfunction native = nullptr;
  const CUresult result =
      driver().cuModuleGetFunction(&native, native_, name.c_str());
  require(
      result != CUDA_ERROR_NOT_FOUND,
      ACCEL_NOT_FOUND,
      source_name_ + " has no kernel " + name);
  accelerator::nvidia::check(result, "cuModuleGetFunction");
  std::vector<accel_parameter> parameters;
  std::uint32_t bytes = 0;
  std::size_t offset = 0;
  std::size_t size = 0;
  while (driver().cuFuncGetParamInfo(
             native, parameters.size(), &offset, &size) == CUDA_SUCCESS) {
    parameters.push_back(
        {static_cast<std::uint32_t>(offset), static_cast<std::uint32_t>(size)});
    bytes = std::max(bytes, static_cast<std::uint32_t>(offset + size));
  }
  int shared = 0;
  ACCEL_DRIVER(
      cuFuncGetAttribute,
      &shared,
      CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
      native);
  known.reset(new accel_kernel_object{
      device_,
      native,
      std::move(parameters),
      bytes,
      {},
      static_cast<std::uint64_t>(shared)});
  return known.get();
}
