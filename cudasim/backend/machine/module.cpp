#include "cudasim/backend/machine/module.h"

#include <new>
#include <string_view>

#include "cudasim/backend/machine/device.h"
#include "cudasim/backend/status/error.h"
#include "cudasim/engine/launch/float_environment.h"
#include "cudasim/ptx/parser.h"

namespace cudasim::backend {
namespace {

// What parser and lowering throw, as the ABI's status. They read and convert
// numbers, in which the caller's rounding has no part.
template <typename Body>
auto translated(Body&& body) {
  const engine::DefaultFloatEnvironment environment;
  try {
    return body();
  } catch (const ptx::ParseError& error) {
    throw Error(ACCEL_INVALID_CODE, error.what());
  } catch (const engine::LoweringError& error) {
    throw Error(ACCEL_NOT_SUPPORTED, error.what());
  }
}

} // namespace

LoadedModule::LoadedModule(Device& device, const accel_image& image)
    : device_(device) {
  const auto place = [&](std::uint64_t bytes,
                         std::uint64_t alignment,
                         bool read_only,
                         std::string_view name) -> std::uint64_t {
    if (image.place != nullptr) {
      void* home = image.place(
          image.place_data, std::string(name).c_str(), bytes, alignment);
      if (home != nullptr) {
        return reinterpret_cast<std::uint64_t>(home);
      }
    }
    try {
      variables_.push_back(
          device_.memory().allocate(bytes, alignment, true, read_only));
      return variables_.back();
    } catch (const Error&) {
      throw std::bad_alloc(); // the contract of engine::Module::Allocate
    }
  };
  try {
    module_ = translated([&] {
      return engine::Module::load(
          // Kernels are read when they are asked for, and the text is the
          // caller's.
          std::string(static_cast<const char*>(image.code), image.bytes),
          image.source_name,
          place,
          image.check_all == 2       ? engine::Module::Verify::kToRunWhole
              : image.check_all != 0 ? engine::Module::Verify::kAtLoad
                                     : engine::Module::Verify::kAtFirstUse,
          // An assembler is asked about other devices, too.
          image.check_all == 2 ? 0 : device_.view().compute_capability);
    });
  } catch (...) {
    for (const std::uint64_t variable : variables_) {
      device_.memory().release(variable);
    }
    throw;
  }
}

LoadedModule::~LoadedModule() {
  module_.reset();
  for (const std::uint64_t variable : variables_) {
    device_.memory().release(variable);
  }
}

} // namespace cudasim::backend

using cudasim::backend::Error;
using cudasim::backend::LoadedModule;

accel_module_object::accel_module_object(
    cudasim::backend::Device& device,
    const accel_image& image)
    : module(std::make_shared<LoadedModule>(device, image)),
      variables(module->module().symbols()),
      kernel_names(module->module().kernel_names()) {}

accel_kernel_object& accel_module_object::kernel(const std::string& name) {
  const std::lock_guard lock(mutex_);
  auto& entry = kernels_[name];
  if (entry == nullptr) {
    cudasim::engine::Module& parts = module->module();
    const cudasim::engine::Kernel* found =
        cudasim::backend::translated([&] { return parts.kernel(name); });
    if (found == nullptr) {
      throw Error(ACCEL_NOT_FOUND, "there is no kernel " + name);
    }
    entry = std::make_unique<accel_kernel_object>(
        accel_kernel_object{module, found, &parts.info(*found)});
  }
  return *entry;
}
