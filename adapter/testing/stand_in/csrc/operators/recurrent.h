// Cells of recurrent networks.
#pragma once

#include <torch/library.h>

namespace torch_stand_in {

/// Registers the cells of LSTM and GRU. @param aten for the key PrivateUse1.
void register_recurrent(torch::Library& aten);

} // namespace torch_stand_in
