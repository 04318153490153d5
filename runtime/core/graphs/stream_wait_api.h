// A wait that torch's side asks for beyond CUDA's own API. A process without
// this library has NVIDIA's.
#pragma once

extern "C" {

/// Waits for the work that a stream has; for the default stream that of the
/// blocking streams is waited for too. Unlike cudaStreamSynchronize it is no
/// call of CUDA's: what other threads capture goes on, and profilers do not see
/// it. A capture of the stream itself is ended, as by that.
/// @param stream a cudaStream_t.
/// @returns a cudaError_t.
int accelerator_stream_wait(void* stream);
}
