// The variants for programs compiled with --default-stream per-thread: the same
// functions, but stream 0 is the calling thread's own.
// Source: CUDA runtime API, stream synchronization behavior; the names are
// those that cuda_runtime_api.h puts in (_ptds where there is no stream
// argument).
#include <cuda_runtime_api.h>

#include "accelerator/runtime/core/machine/per_thread.h"
#include "accelerator/runtime/core/machine/thread_state.h"

PER_THREAD_7(cudaMemcpy2D, _ptds)
PER_THREAD_4(cudaMemcpy, _ptds)
PER_THREAD_1(cudaMemcpy3D, _ptds)
PER_THREAD_1(cudaMemcpy3DPeer, _ptds)
PER_THREAD_5(cudaMemcpyToSymbol, _ptds)
PER_THREAD_5(cudaMemcpyFromSymbol, _ptds)
PER_THREAD_3(cudaMemset, _ptds)
PER_THREAD_5(cudaMemset2D, _ptds)
PER_THREAD_3(cudaMemset3D, _ptds)

PER_THREAD_5(cudaMemcpyAsync, _ptsz)
PER_THREAD_8(cudaMemcpy2DAsync, _ptsz)
PER_THREAD_2(cudaMemcpy3DAsync, _ptsz)
PER_THREAD_2(cudaMemcpy3DPeerAsync, _ptsz)
PER_THREAD_6(cudaMemcpyToSymbolAsync, _ptsz)
PER_THREAD_6(cudaMemcpyFromSymbolAsync, _ptsz)
PER_THREAD_4(cudaMemsetAsync, _ptsz)
PER_THREAD_6(cudaMemset2DAsync, _ptsz)
PER_THREAD_4(cudaMemset3DAsync, _ptsz)
PER_THREAD_4(cudaMemPrefetchAsync, _ptsz)
PER_THREAD_5(cudaMemPrefetchAsync_v2, _ptsz)
PER_THREAD_3(cudaMallocAsync, _ptsz)
PER_THREAD_4(cudaMallocFromPoolAsync, _ptsz)
PER_THREAD_2(cudaFreeAsync, _ptsz)

PER_THREAD_6(cudaLaunchKernel, _ptsz)
PER_THREAD_6(cudaLaunchCooperativeKernel, _ptsz)
PER_THREAD_3(cudaLaunchKernelExC, _ptsz)
PER_THREAD_3(cudaLaunchHostFunc, _ptsz)

PER_THREAD_2(cudaEventRecord, _ptsz)
PER_THREAD_3(cudaEventRecordWithFlags, _ptsz)

PER_THREAD_1(cudaStreamSynchronize, _ptsz)
PER_THREAD_1(cudaStreamQuery, _ptsz)
PER_THREAD_3(cudaStreamWaitEvent, _ptsz)
PER_THREAD_2(cudaStreamGetPriority, _ptsz)
PER_THREAD_2(cudaStreamGetFlags, _ptsz)
PER_THREAD_2(cudaStreamGetId, _ptsz)
PER_THREAD_3(cudaStreamGetAttribute, _ptsz)
PER_THREAD_3(cudaStreamSetAttribute, _ptsz)
PER_THREAD_2(cudaStreamCopyAttributes, _ptsz)
PER_THREAD_4(cudaStreamAddCallback, _ptsz)
PER_THREAD_4(cudaStreamAttachMemAsync, _ptsz)
PER_THREAD_2(cudaStreamBeginCapture, _ptsz)
PER_THREAD_6(cudaStreamBeginCaptureToGraph, _ptsz)
PER_THREAD_2(cudaStreamEndCapture, _ptsz)
PER_THREAD_2(cudaStreamIsCapturing, _ptsz)
PER_THREAD_6(cudaStreamGetCaptureInfo_v2, _ptsz)
PER_THREAD_7(cudaStreamGetCaptureInfo_v3, _ptsz)
PER_THREAD_4(cudaStreamUpdateCaptureDependencies, _ptsz)

PER_THREAD_2(cudaGraphLaunch, _ptsz)
PER_THREAD_2(cudaGraphUpload, _ptsz)
PER_THREAD_3(cudaGraphInstantiateWithParams, _ptsz)
PER_THREAD_4(cudaGetDriverEntryPoint, _ptsz)
