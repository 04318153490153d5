// The variants for programs compiled with --default-stream per-thread: the same
// functions, but stream 0 is the calling thread's own.
// Source: CUDA runtime API, stream synchronization behavior; the names are
// those that cuda_runtime_api.h puts in (_ptds where there is no stream
// argument).
#include <cuda_runtime_api.h>

#include "runtime/core/operations/api_functions.h"

PER_THREAD(7, cudaMemcpy2D, _ptds)
PER_THREAD(4, cudaMemcpy, _ptds)
PER_THREAD(1, cudaMemcpy3D, _ptds)
PER_THREAD(1, cudaMemcpy3DPeer, _ptds)
PER_THREAD(5, cudaMemcpyToSymbol, _ptds)
PER_THREAD(5, cudaMemcpyFromSymbol, _ptds)
PER_THREAD(3, cudaMemset, _ptds)
PER_THREAD(5, cudaMemset2D, _ptds)
PER_THREAD(3, cudaMemset3D, _ptds)

PER_THREAD(5, cudaMemcpyAsync, _ptsz)
PER_THREAD(8, cudaMemcpy2DAsync, _ptsz)
PER_THREAD(2, cudaMemcpy3DAsync, _ptsz)
PER_THREAD(2, cudaMemcpy3DPeerAsync, _ptsz)
PER_THREAD(6, cudaMemcpyToSymbolAsync, _ptsz)
PER_THREAD(6, cudaMemcpyFromSymbolAsync, _ptsz)
PER_THREAD(4, cudaMemsetAsync, _ptsz)
PER_THREAD(6, cudaMemset2DAsync, _ptsz)
PER_THREAD(4, cudaMemset3DAsync, _ptsz)
PER_THREAD(3, cudaMallocAsync, _ptsz)
PER_THREAD(4, cudaMallocFromPoolAsync, _ptsz)
PER_THREAD(2, cudaFreeAsync, _ptsz)

PER_THREAD(6, cudaLaunchKernel, _ptsz)
PER_THREAD(6, cudaLaunchCooperativeKernel, _ptsz)
PER_THREAD(3, cudaLaunchKernelExC, _ptsz)
PER_THREAD(3, cudaLaunchHostFunc, _ptsz)

PER_THREAD(2, cudaEventRecord, _ptsz)
PER_THREAD(3, cudaEventRecordWithFlags, _ptsz)

PER_THREAD(1, cudaStreamSynchronize, _ptsz)
PER_THREAD(1, cudaStreamQuery, _ptsz)
PER_THREAD(3, cudaStreamWaitEvent, _ptsz)
PER_THREAD(2, cudaStreamGetPriority, _ptsz)
PER_THREAD(2, cudaStreamGetFlags, _ptsz)
PER_THREAD(2, cudaStreamGetId, _ptsz)
PER_THREAD(3, cudaStreamGetAttribute, _ptsz)
PER_THREAD(3, cudaStreamSetAttribute, _ptsz)
PER_THREAD(2, cudaStreamCopyAttributes, _ptsz)
PER_THREAD(4, cudaStreamAddCallback, _ptsz)
PER_THREAD(4, cudaStreamAttachMemAsync, _ptsz)
PER_THREAD(2, cudaStreamBeginCapture, _ptsz)
PER_THREAD(6, cudaStreamBeginCaptureToGraph, _ptsz)
PER_THREAD(2, cudaStreamEndCapture, _ptsz)
PER_THREAD(2, cudaStreamIsCapturing, _ptsz)

PER_THREAD(2, cudaGraphLaunch, _ptsz)
PER_THREAD(2, cudaGraphUpload, _ptsz)
PER_THREAD(3, cudaGraphInstantiateWithParams, _ptsz)
PER_THREAD(4, cudaGetDriverEntryPoint, _ptsz)

#if CUDART_VERSION >= 13000
PER_THREAD(5, cudaMemPrefetchAsync, _ptsz)
PER_THREAD(7, cudaStreamGetCaptureInfo, _ptsz)
PER_THREAD(5, cudaStreamUpdateCaptureDependencies, _ptsz)
#else
PER_THREAD(4, cudaMemPrefetchAsync, _ptsz)
PER_THREAD(5, cudaMemPrefetchAsync_v2, _ptsz)
PER_THREAD(6, cudaStreamGetCaptureInfo_v2, _ptsz)
PER_THREAD(7, cudaStreamGetCaptureInfo_v3, _ptsz)
PER_THREAD(4, cudaStreamUpdateCaptureDependencies, _ptsz)
PER_THREAD(5, cudaStreamUpdateCaptureDependencies_v2, _ptsz)
#endif
