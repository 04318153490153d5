// The cells of recurrent networks.
#pragma once

namespace torch_cuda::operators {

/// Serves the fused cells that upstream's recurrent networks are made of on
/// CUDA, `_thnn_fused_lstm_cell` and `_thnn_fused_gru_cell` and their backward
/// passes, which have no kernel for the CPU. The networks, their derivatives
/// and what autocast and functorch do with them are upstream's own.
void route_recurrent();

} // namespace torch_cuda::operators
