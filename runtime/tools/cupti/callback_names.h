// The numbers that CUPTI gives to functions of the runtime and the driver.
#pragma once

#include <cupti.h>

#include <cstdint>

#include "runtime/core/tracing/records.h"

namespace accelerator::cupti {

/// The number of a function; 0 for one that CUPTI does not know.
/// @param function its name in the API, without what CUPTI appends to say since
/// when it is like this.
CUpti_CallbackId callback_of(
    runtime::tracing::Interface interface,
    const char* function);

/// The name that CUPTI has for a number, such as "cudaLaunchKernel_v7000"; null
/// when there is none.
const char* callback_name(
    runtime::tracing::Interface interface,
    CUpti_CallbackId callback);

} // namespace accelerator::cupti
