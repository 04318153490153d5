#include "runtime/core/operations/functions.h"

#include <string>

#include "runtime/core/machine/device.h"
#include "runtime/core/modules/module.h"
#include "runtime/core/status/guarded.h"

namespace accelerator::runtime::operations {

void func_set_attribute(
    Function& function,
    Device& device,
    cudaFuncAttribute attribute,
    int value) {
  if (attribute == cudaFuncAttributeMaxDynamicSharedMemorySize) {
    const auto statically = function.on(device).info.static_shared_bytes;
    require(
        value >= 0 &&
        static_cast<unsigned>(value) + statically <=
            device.properties().sharedMemPerBlockOptin);
    function.max_dynamic_shared = value;
  } else if (attribute == cudaFuncAttributePreferredSharedMemoryCarveout) {
    require(value >= -1 && value <= 100);
    function.carveout = value;
  } else {
    // Programs ask in this way whether there is something newer, and say
    // nothing when there is not.
    require(attribute <= cudaFuncAttributeClusterSchedulingPolicyPreference);
    throw Failure(
        cudaErrorNotSupported,
        "attribute " + std::to_string(attribute) + " of the kernel " +
            function.name() + " cannot be set");
  }
}

void func_get_param_info(
    Function& function,
    Device& device,
    size_t index,
    size_t* offset,
    size_t* size) {
  const auto& parameters = function.on(device).info.parameters;
  require(index < parameters.size());
  store(offset, parameters[index].offset);
  if (size != nullptr) {
    *size = parameters[index].size;
  }
}

} // namespace accelerator::runtime::operations
