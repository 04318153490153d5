// CUDA half of torch/csrc/Generator.cpp: torch.Generator(device="cuda").
//
// Everything but the constructor works on any generator already: seeding,
// states, offsets, pickling and the graph-safe state reach the CUDA generator
// through its virtual functions.
#include "python/csrc/intra_file/silent_warnings.h"
#include "python/csrc/intra_file/sites.h"

#include <ATen/cuda/CUDAGeneratorImpl.h>
#include <torch/csrc/Exceptions.h>
#include <torch/csrc/Generator.h>
#include <torch/csrc/utils/python_arg_parser.h>

namespace torch_cuda::intra_file {
namespace {

newfunc original_new = nullptr;

// Refuses a wrong call in the constructor's own words.
at::Device requested_device(PyObject* args, PyObject* kwargs) {
  SilentWarnings silent;
  static torch::PythonArgParser parser({"Generator(Device device=None)"});
  torch::ParsedArgs<1> parsed_args;
  auto parsed = parser.parse(args, kwargs, parsed_args);
  return parsed.deviceWithDefault(0, at::Device(at::kCPU));
}

PyObject* generator_new(PyTypeObject* type, PyObject* args, PyObject* kwargs) {
  HANDLE_TH_ERRORS
  const at::Device device = requested_device(args, kwargs);
  if (!device.is_cuda()) {
    return original_new(type, args, kwargs);
  }
  auto generator = at::make_generator<at::CUDAGeneratorImpl>(device.index());
  THPObjectPtr self(type->tp_alloc(type, 0));
  if (!self) {
    throw python_error();
  }
  new (&reinterpret_cast<THPGenerator*>(self.get())->cdata)
      at::Generator(std::move(generator));
  return self.release();
  END_HANDLE_TH_ERRORS
}

} // namespace

void init_generator(py::module_& torch_c, Swaps& swaps) {
  original_new = swaps.constructor(torch_c.attr("Generator"), generator_new);
}

} // namespace torch_cuda::intra_file
