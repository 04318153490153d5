// Of the ABI: modules, kernels and their launches.
#include <algorithm>
#include <cstring>

#include "device/nvidia/api/api.h"
#include "device/nvidia/code/module.h"
#include "device/nvidia/devices/device.h"
#include "device/nvidia/driver/error.h"
#include "device/nvidia/streams/stream.h"

namespace accelerator::nvidia {
namespace {

accel_module_object& module_of(accel_module module) {
  require(module != nullptr, ACCEL_INVALID_ARGUMENT, "module is null");
  concern(module->device().number());
  return *module;
}

// Fills no more of an answer than its reader knows.
template <typename Answer>
void give(Answer* place, Answer answer) {
  answer.struct_size = place->struct_size;
  std::memcpy(place, &answer, std::min(place->struct_size, sizeof(answer)));
}

accel_status module_load(
    std::int32_t device,
    const accel_image* image,
    accel_module* module) {
  return call("module_load", [&] {
    *module = new accel_module_object(device_of(device), *image);
  });
}

accel_status module_unload(accel_module module) {
  return call_to_free("module_unload", [&] { delete &module_of(module); });
}

accel_status module_kernel(
    accel_module module,
    const char* name,
    accel_kernel* kernel) {
  return call(
      "module_kernel", [&] { *kernel = module_of(module).kernel(name); });
}

accel_status module_variable(
    accel_module module,
    const char* name,
    accel_variable* variable) {
  return call("module_variable", [&] {
    for (const accel_variable& one : module_of(module).variables()) {
      if (std::strcmp(one.name, name) == 0) {
        give(variable, one);
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
    const auto& all = module_of(module).variables();
    require(
        index < all.size(),
        ACCEL_NOT_FOUND,
        "there are " + std::to_string(all.size()) + " variables");
    give(variable, all[index]);
  });
}

accel_status module_kernel_name_at(
    accel_module module,
    std::uint32_t index,
    const char** name) {
  return call("module_kernel_name_at", [&] {
    const auto& all = module_of(module).kernel_names();
    require(
        index < all.size(),
        ACCEL_NOT_FOUND,
        "there are " + std::to_string(all.size()) + " kernels");
    *name = all[index].c_str();
  });
}

accel_status kernel_properties(
    accel_kernel kernel,
    accel_kernel_properties* properties) {
  return call("kernel_properties", [&] {
    require(kernel != nullptr, ACCEL_INVALID_ARGUMENT, "kernel is null");
    concern(kernel->device.number());
    const Current current(kernel->device);
    const auto ask = [&](CUfunction_attribute which) {
      int value = 0;
      ACCEL_DRIVER(cuFuncGetAttribute, &value, which, kernel->native);
      return static_cast<std::uint32_t>(value);
    };
    accel_kernel_properties answer{};
    answer.parameters = kernel->parameters.data();
    answer.parameter_count =
        static_cast<std::uint32_t>(kernel->parameters.size());
    answer.parameter_bytes = kernel->parameter_bytes;
    answer.registers = ask(CU_FUNC_ATTRIBUTE_NUM_REGS);
    answer.max_threads = ask(CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK);
    answer.static_shared_bytes = ask(CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES);
    answer.constant_bytes = ask(CU_FUNC_ATTRIBUTE_CONST_SIZE_BYTES);
    answer.local_bytes = ask(CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES);
    answer.code_version = ask(CU_FUNC_ATTRIBUTE_PTX_VERSION);
    give(properties, answer);
  });
}

// More than the usual shared memory has to be asked for.
void allow_shared(accel_kernel kernel, std::uint64_t bytes) {
  const std::lock_guard lock(kernel->mutex);
  if (bytes > kernel->dynamic_shared) {
    ACCEL_DRIVER(
        cuFuncSetAttribute,
        kernel->native,
        CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
        static_cast<int>(bytes));
    kernel->dynamic_shared = bytes;
  }
}

// What a launch needs of its kernel, which may be gone when it is handed on.
struct Launch {
  CUfunction function;
  std::uint32_t grid[3];
  std::uint32_t block[3];
  unsigned shared_bytes;
  bool cooperative;

  void run(
      CUstream stream,
      const std::vector<accel_parameter>& places,
      const char* packed) const {
    std::vector<void*> parameters;
    for (const accel_parameter& one : places) {
      parameters.push_back(const_cast<char*>(packed + one.offset));
    }
    if (cooperative) {
      ACCEL_DRIVER(
          cuLaunchCooperativeKernel,
          function,
          grid[0],
          grid[1],
          grid[2],
          block[0],
          block[1],
          block[2],
          shared_bytes,
          stream,
          parameters.data());
    } else {
      ACCEL_DRIVER(
          cuLaunchKernel,
          function,
          grid[0],
          grid[1],
          grid[2],
          block[0],
          block[1],
          block[2],
          shared_bytes,
          stream,
          parameters.data(),
          nullptr);
    }
  }
};

accel_status launch(accel_stream stream, const accel_launch* asked) {
  return call("launch", [&] {
    Stream& where = stream_of(stream);
    const accel_kernel kernel = asked->kernel;
    require(kernel != nullptr, ACCEL_INVALID_ARGUMENT, "kernel is null");
    where.device().require_health();
    const Current current(where.device());
    allow_shared(kernel, asked->shared_bytes);
    Launch work{};
    work.function = kernel->native;
    std::copy_n(asked->grid, 3, work.grid);
    std::copy_n(asked->block, 3, work.block);
    work.shared_bytes = static_cast<unsigned>(asked->shared_bytes);
    work.cooperative = asked->cooperative != 0;
    const auto* packed = static_cast<const char*>(asked->parameters);
    const std::lock_guard lock(where.mutex());
    if (where.takes_work()) {
      where.put_now([&](CUstream native) {
        work.run(native, kernel->parameters, packed);
      });
    } else {
      std::vector<char> own;
      if (kernel->parameter_bytes > 0) { // null is allowed without any
        own.assign(packed, packed + kernel->parameter_bytes);
      }
      where.put_later(
          [work, places = kernel->parameters, own = std::move(own)](
              CUstream native) { work.run(native, places, own.data()); });
    }
  });
}

accel_status heap_limit(std::int32_t device, std::uint64_t* bytes) {
  return call("heap_limit", [&] {
    const Current current(device_of(device));
    std::size_t limit = 0;
    ACCEL_DRIVER(cuCtxGetLimit, &limit, CU_LIMIT_MALLOC_HEAP_SIZE);
    *bytes = limit;
  });
}

accel_status set_heap_limit(std::int32_t device, std::uint64_t bytes) {
  return call("set_heap_limit", [&] {
    const Current current(device_of(device));
    ACCEL_DRIVER(cuCtxSetLimit, CU_LIMIT_MALLOC_HEAP_SIZE, bytes);
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

} // namespace accelerator::nvidia
