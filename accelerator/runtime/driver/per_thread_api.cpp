// The variants for programs compiled with --default-stream per-thread: the same
// functions, but stream 0 is the calling thread's own.
// Source: CUDA driver API, stream synchronization behavior; the names are those
// that cuda.h puts in.
#include <cuda.h>

#include "accelerator/runtime/core/machine/per_thread.h"
#include "accelerator/runtime/core/machine/thread_state.h"

PER_THREAD_3(cuMemcpy, _ptds)
PER_THREAD_3(cuMemcpyHtoD, _ptds)
PER_THREAD_3(cuMemcpyDtoH, _ptds)
PER_THREAD_3(cuMemcpyDtoD, _ptds)
PER_THREAD_5(cuMemcpyPeer, _ptds)
PER_THREAD_3(cuMemsetD8, _ptds)
PER_THREAD_3(cuMemsetD16, _ptds)
PER_THREAD_3(cuMemsetD32, _ptds)
PER_THREAD_5(cuMemsetD2D8, _ptds)
PER_THREAD_5(cuMemsetD2D32, _ptds)

PER_THREAD_4(cuMemcpyAsync, _ptsz)
PER_THREAD_4(cuMemcpyHtoDAsync, _ptsz)
PER_THREAD_4(cuMemcpyDtoHAsync, _ptsz)
PER_THREAD_4(cuMemcpyDtoDAsync, _ptsz)
PER_THREAD_6(cuMemcpyPeerAsync, _ptsz)
PER_THREAD_4(cuMemsetD8Async, _ptsz)
PER_THREAD_4(cuMemsetD16Async, _ptsz)
PER_THREAD_4(cuMemsetD32Async, _ptsz)
PER_THREAD_3(cuMemAllocAsync, _ptsz)
PER_THREAD_4(cuMemAllocFromPoolAsync, _ptsz)
PER_THREAD_2(cuMemFreeAsync, _ptsz)

PER_THREAD_11(cuLaunchKernel, _ptsz)
PER_THREAD_10(cuLaunchCooperativeKernel, _ptsz)
PER_THREAD_4(cuLaunchKernelEx, _ptsz)
PER_THREAD_3(cuLaunchHostFunc, _ptsz)

PER_THREAD_2(cuEventRecord, _ptsz)
PER_THREAD_3(cuEventRecordWithFlags, _ptsz)

PER_THREAD_1(cuStreamSynchronize, _ptsz)
PER_THREAD_1(cuStreamQuery, _ptsz)
PER_THREAD_3(cuStreamWaitEvent, _ptsz)
PER_THREAD_2(cuStreamGetPriority, _ptsz)
PER_THREAD_2(cuStreamGetFlags, _ptsz)
PER_THREAD_2(cuStreamGetId, _ptsz)
PER_THREAD_2(cuStreamGetCtx, _ptsz)
PER_THREAD_2(cuStreamBeginCapture, _ptsz)
PER_THREAD_2(cuStreamEndCapture, _ptsz)
PER_THREAD_2(cuStreamIsCapturing, _ptsz)
PER_THREAD_6(cuStreamGetCaptureInfo, _ptsz)

PER_THREAD_2(cuGraphLaunch, _ptsz)
PER_THREAD_2(cuGraphUpload, _ptsz)
