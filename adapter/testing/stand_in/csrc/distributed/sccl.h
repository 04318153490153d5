// The process group of the stand-in: gloo's, on the devices' memory.
#pragma once

#include <torch/csrc/distributed/c10d/Backend.hpp>

namespace torch_stand_in {

/// Makes it. @param cpu a backend for tensors of the CPU.
c10::intrusive_ptr<c10d::Backend> make_sccl(
    c10::intrusive_ptr<c10d::Backend> cpu);

} // namespace torch_stand_in
