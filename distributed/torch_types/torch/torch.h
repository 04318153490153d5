// What lives here: <torch/torch.h> for units of upstream that take no more of
// the C++ frontend than its tensors. The frontend has data loaders, layers and
// optimizers besides.
#pragma once

#include <torch/types.h>
