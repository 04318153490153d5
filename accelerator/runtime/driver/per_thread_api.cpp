// The variants for programs compiled with --default-stream per-thread: the same
// functions, but stream 0 is the calling thread's own.
// Source: CUDA driver API, stream synchronization behavior; the names are those
// that cuda.h puts in.
#include <cuda.h>

#include "accelerator/runtime/core/operations/api_functions.h"

PER_THREAD(3, cuMemcpy, _ptds)
PER_THREAD(3, cuMemcpyHtoD, _ptds)
PER_THREAD(3, cuMemcpyDtoH, _ptds)
PER_THREAD(3, cuMemcpyDtoD, _ptds)
PER_THREAD(5, cuMemcpyPeer, _ptds)
PER_THREAD(3, cuMemsetD8, _ptds)
PER_THREAD(3, cuMemsetD16, _ptds)
PER_THREAD(3, cuMemsetD32, _ptds)
PER_THREAD(5, cuMemsetD2D8, _ptds)
PER_THREAD(5, cuMemsetD2D32, _ptds)

PER_THREAD(4, cuMemcpyAsync, _ptsz)
PER_THREAD(4, cuMemcpyHtoDAsync, _ptsz)
PER_THREAD(4, cuMemcpyDtoHAsync, _ptsz)
PER_THREAD(4, cuMemcpyDtoDAsync, _ptsz)
PER_THREAD(6, cuMemcpyPeerAsync, _ptsz)
PER_THREAD(4, cuMemsetD8Async, _ptsz)
PER_THREAD(4, cuMemsetD16Async, _ptsz)
PER_THREAD(4, cuMemsetD32Async, _ptsz)
PER_THREAD(3, cuMemAllocAsync, _ptsz)
PER_THREAD(4, cuMemAllocFromPoolAsync, _ptsz)
PER_THREAD(2, cuMemFreeAsync, _ptsz)

PER_THREAD(11, cuLaunchKernel, _ptsz)
PER_THREAD(10, cuLaunchCooperativeKernel, _ptsz)
PER_THREAD(4, cuLaunchKernelEx, _ptsz)
PER_THREAD(3, cuLaunchHostFunc, _ptsz)

PER_THREAD(2, cuEventRecord, _ptsz)
PER_THREAD(3, cuEventRecordWithFlags, _ptsz)

PER_THREAD(1, cuStreamSynchronize, _ptsz)
PER_THREAD(1, cuStreamQuery, _ptsz)
PER_THREAD(3, cuStreamWaitEvent, _ptsz)
PER_THREAD(2, cuStreamGetPriority, _ptsz)
PER_THREAD(2, cuStreamGetFlags, _ptsz)
PER_THREAD(2, cuStreamGetId, _ptsz)
PER_THREAD(2, cuStreamGetCtx, _ptsz)
PER_THREAD(2, cuStreamBeginCapture, _ptsz)
PER_THREAD(2, cuStreamEndCapture, _ptsz)
PER_THREAD(2, cuStreamIsCapturing, _ptsz)
PER_THREAD(6, cuStreamGetCaptureInfo, _ptsz)
PER_THREAD(6, cuStreamBeginCaptureToGraph, _ptsz)
PER_THREAD(4, cuStreamUpdateCaptureDependencies, _ptsz)
PER_THREAD(5, cuStreamUpdateCaptureDependencies_v2, _ptsz)

PER_THREAD(2, cuGraphLaunch, _ptsz)
PER_THREAD(2, cuGraphUpload, _ptsz)
PER_THREAD(3, cuGraphInstantiateWithParams, _ptsz)
