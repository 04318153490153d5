// Puts the CUDA half of every site in place, all of them or none.
#include "python/csrc/intra_file/intra_file.h"

#include <optional>

#include "python/csrc/intra_file/sites.h"

namespace torch_cuda {
namespace {

using intra_file::Swaps;

// Guarded by the GIL. Never destroyed: what it holds belongs to an interpreter
// that may be gone when static destructors run.
std::optional<Swaps>& in_place() {
  static auto* swaps = new std::optional<Swaps>();
  return *swaps;
}

} // namespace

void init_intra_file(PyObject* torch_c_module) {
  using namespace intra_file;
  if (in_place()) {
    return;
  }
  auto torch_c = py::reinterpret_borrow<py::module_>(torch_c_module);
  Swaps swaps;
  try {
    for (auto* init_site :
         {init_generator,
          init_storage,
          init_storage_sharing,
          init_legacy_tensor_types,
          init_module_flags,
          init_backend_queries,
          init_guards,
          init_aoti_runner,
          init_aoti_eager,
          init_tensorexpr}) {
      init_site(torch_c, swaps);
    }
  } catch (...) {
    swaps.revert();
    throw;
  }
  in_place() = std::move(swaps);
}

void revert_intra_file() noexcept {
  if (in_place()) {
    in_place()->revert();
    in_place().reset();
  }
}

} // namespace torch_cuda
