// Kernels, in the forms that CUDA 13 adds. Source: CUDA driver API, execution
// control and library management.
#include "runtime/api/driver/call.h"
#include "runtime/core/modules/module.h"

using namespace accelerator::runtime;
using accelerator::driver::call;
using accelerator::driver::current_context;

extern "C" {

CUresult cuFuncGetParamCount(CUfunction function, size_t* count) {
  return call([&] {
    store(
        count,
        machine()
            .functions()
            .get(function)
            ->on(current_context())
            .info.parameters.size());
  });
}

// A kernel is its function, and a library its module.
CUresult cuKernelGetParamCount(CUkernel kernel, size_t* count) {
  return cuFuncGetParamCount(reinterpret_cast<CUfunction>(kernel), count);
}

CUresult cuKernelGetLibrary(CUlibrary* library, CUkernel kernel) {
  return call([&] {
    const auto function = machine().functions().get(kernel);
    store(library, reinterpret_cast<CUlibrary>(&function->module()));
  });
}

} // extern "C"
