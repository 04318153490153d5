// The records that the CUPTI of these headers writes. Each later form begins as
// the one before it: who reads an older one finds everything in its place.
// Source: CUPTI, activity records (cupti_activity.h).
#pragma once

#include <cupti.h>

namespace accelerator::cupti {

#if CUPTI_API_VERSION >= 130000
using KernelRecord = CUpti_ActivityKernel11;
using CopyRecord = CUpti_ActivityMemcpy6;
using WaitRecord = CUpti_ActivitySynchronization2;
using EventRecord = CUpti_ActivityCudaEvent2;
#else
using KernelRecord = CUpti_ActivityKernel9;
using CopyRecord = CUpti_ActivityMemcpy5;
using WaitRecord = CUpti_ActivitySynchronization;
using EventRecord = CUpti_ActivityCudaEvent;
#endif
using PeerCopyRecord = CUpti_ActivityMemcpyPtoP4;
using FillRecord = CUpti_ActivityMemset4;

} // namespace accelerator::cupti
