// Of the ABI: modules, kernels and their launches.
#include <cstring>
#include <memory>

#include "cudasim/backend/api/api.h"
#include "cudasim/backend/machine/launch.h"
#include "cudasim/backend/machine/machine.h"
#include "cudasim/backend/machine/module.h"
#include "cudasim/backend/status/error.h"

namespace cudasim::backend {
namespace {

accel_module_object& module_of(accel_module module) {
  require(module != nullptr, "module is null");
  return *module;
}

// Fills no more of an answer than its reader knows.
template <typename Answer>
void give(Answer* place, Answer answer) {
  require(place != nullptr, "a place for the answer is null");
  answer.struct_size = place->struct_size;
  std::memcpy(place, &answer, std::min(place->struct_size, sizeof(answer)));
}

accel_variable describe(const engine::Symbol& symbol) {
  accel_variable variable{};
  variable.name = symbol.name.c_str();
  variable.address = reinterpret_cast<void*>(symbol.address);
  variable.bytes = symbol.size;
  variable.constant = symbol.is_const ? 1 : 0;
  return variable;
}

accel_status module_load(
    std::int32_t device,
    const accel_image* image,
    accel_module* module) {
  return call("module_load", [&] {
    require(image != nullptr && module != nullptr, "a pointer is null");
    require(
        image->format == ACCEL_CODE_PTX,
        ACCEL_NO_IMAGE_FOR_DEVICE,
        "the simulated device runs PTX");
    require(
        image->code != nullptr && image->source_name != nullptr,
        "code or source_name is null");
    *module = new accel_module_object(machine().device(device), *image);
  });
}

accel_status module_unload(accel_module module) {
  return call("module_unload", [&] { delete &module_of(module); });
}

accel_status module_kernel(
    accel_module module,
    const char* name,
    accel_kernel* kernel) {
  return call("module_kernel", [&] {
    require(name != nullptr && kernel != nullptr, "a pointer is null");
    *kernel = &module_of(module).kernel(name);
  });
}

accel_status module_variable(
    accel_module module,
    const char* name,
    accel_variable* variable) {
  return call("module_variable", [&] {
    require(name != nullptr, "name is null");
    for (const engine::Symbol& symbol : module_of(module).variables) {
      if (symbol.name == name) {
        give(variable, describe(symbol));
        return;
      }
    }
    throw Error(ACCEL_NOT_FOUND, std::string("there is no variable ") + name);
  });
}

accel_status module_variable_at(
    accel_module module,
    std::uint32_t index,
    accel_variable* variable) {
  return call("module_variable_at", [&] {
    const auto& all = module_of(module).variables;
    require(index < all.size(), ACCEL_NOT_FOUND, "the index is out of range");
    give(variable, describe(all[index]));
  });
}

accel_status module_kernel_name_at(
    accel_module module,
    std::uint32_t index,
    const char** name) {
  return call("module_kernel_name_at", [&] {
    require(name != nullptr, "name is null");
    const auto& all = module_of(module).kernel_names;
    require(index < all.size(), ACCEL_NOT_FOUND, "the index is out of range");
    *name = all[index].c_str();
  });
}

accel_status kernel_properties(
    accel_kernel kernel,
    accel_kernel_properties* properties) {
  return call("kernel_properties", [&] {
    require(kernel != nullptr, "kernel is null");
    const engine::KernelInfo& info = *kernel->info;
    using Parameter = engine::KernelInfo::Parameter;
    static_assert(
        sizeof(Parameter) == sizeof(accel_parameter) &&
        offsetof(Parameter, offset) == offsetof(accel_parameter, offset) &&
        offsetof(Parameter, size) == offsetof(accel_parameter, size));
    accel_kernel_properties answer{};
    answer.parameters =
        reinterpret_cast<const accel_parameter*>(info.parameters.data());
    answer.parameter_count = static_cast<std::uint32_t>(info.parameters.size());
    answer.parameter_bytes = info.parameter_bytes;
    answer.registers = info.registers;
    answer.max_threads = info.max_threads;
    answer.required_threads[0] = info.required_threads.x;
    answer.required_threads[1] = info.required_threads.y;
    answer.required_threads[2] = info.required_threads.z;
    answer.static_shared_bytes = info.static_shared_bytes;
    answer.constant_bytes = info.constant_bytes;
    answer.local_bytes = info.local_bytes;
    answer.code_version = info.ptx_target;
    give(properties, answer);
  });
}

accel_status launch(accel_stream stream, const accel_launch* asked) {
  return call("launch", [&] {
    require(asked != nullptr && asked->kernel != nullptr, "kernel is null");
    require(
        asked->kernel->info->parameter_bytes == 0 ||
            asked->parameters != nullptr,
        "parameters is null");
    stream_behind(stream).put(std::make_unique<LaunchWork>(*asked));
  });
}

accel_status heap_limit(std::int32_t device, std::uint64_t* bytes) {
  return call("heap_limit", [&] {
    require(bytes != nullptr, "bytes is null");
    *bytes = machine().device(device).heap().limit();
  });
}

accel_status set_heap_limit(std::int32_t device, std::uint64_t bytes) {
  return call("set_heap_limit", [&] {
    Device& chosen = machine().device(device);
    require(
        bytes <= chosen.memory().capacity(),
        ACCEL_OUT_OF_MEMORY,
        "the device has less memory than this");
    require(
        chosen.heap().set_limit(bytes), "a kernel has used the heap already");
  });
}

} // namespace

void add_code(accel_api* api) {
  api->module_load = module_load;
  api->module_unload = module_unload;
  api->module_kernel = module_kernel;
  api->module_variable = module_variable;
  api->module_variable_at = module_variable_at;
  api->module_kernel_name_at = module_kernel_name_at;
  api->kernel_properties = kernel_properties;
  api->launch = launch;
  api->heap_limit = heap_limit;
  api->set_heap_limit = set_heap_limit;
}

} // namespace cudasim::backend
