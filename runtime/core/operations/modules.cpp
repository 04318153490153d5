#include "runtime/core/operations/modules.h"

#include <algorithm>
#include <utility>
#include "runtime/core/machine/contexts.h"

namespace accelerator::runtime::operations {

void* module_load(
    std::shared_ptr<Module> module,
    Device& device,
    unsigned max_registers) {
  module->limit_registers(max_registers);
  module->on(device);
  return machine().modules().add(std::move(module));
}

void module_unload(const void* handle) {
  contexts().forget(Contexts::Kind::kModule, handle);
  // Kernels of it that are still in streams hold it until they are done.
  const auto removed = machine().modules().remove(handle);
  machine().functions().remove_if([&](const Function& function) {
    return &function.module() == removed.get();
  });
}

void* module_get_function(Module& module, Device& device, const char* name) {
  require(name != nullptr);
  const auto names = module.on(device).kernel_names;
  require(
      std::find(names.begin(), names.end(), name) != names.end(),
      cudaErrorSymbolNotFound);
  auto function = module.function(name);
  function->on(device);
  return machine().functions().add(std::move(function));
}

} // namespace accelerator::runtime::operations
