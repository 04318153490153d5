// Whole layers of LSTMs, as the CPU computes them: oneDNN's.
#pragma once

namespace torch_cuda::operators {

/// Has an LSTM computed layer by layer where a GPU takes cuDNN: in PyTorch's
/// packages, while cuDNN is switched on. Elsewhere it is computed cell by cell.
void route_lstm_layers();

} // namespace torch_cuda::operators
