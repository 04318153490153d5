#include "runtime/core/operations/arrays/array_copies.h"

#include <utility>

#include "runtime/core/machine/machine.h"
#include "runtime/core/operations/copies.h"

namespace accelerator::runtime::operations {

void copy_all(cudaStream_t stream, std::vector<CopyWork> works, bool wait) {
  for (CopyWork& work : works) {
    check_copy(machine().addresses(), work);
  }
  for (CopyWork& work : works) {
    copy(stream, std::move(work), wait);
  }
}

} // namespace accelerator::runtime::operations
