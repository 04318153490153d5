// Which release of NVIDIA's nvJitLink this library is like: each has its own
// options, and statuses for one and the same mistake.
#pragma once

#include <cuda.h>
#include <nvJitLink.h>

namespace accelerator::nvjitlink {

#if CUDA_VERSION >= 13000
inline constexpr bool kIs13 = true;
inline constexpr unsigned kMajor = 13;
inline constexpr unsigned kMinor = 5;
inline constexpr nvJitLinkResult kIncompatibleOptions =
    NVJITLINK_ERROR_INCOMPATIBLE_OPTIONS;
inline constexpr nvJitLinkResult kIncorrectType =
    NVJITLINK_ERROR_INCORRECT_INPUT_TYPE;
inline constexpr nvJitLinkResult kUnrecognizedInput =
    NVJITLINK_ERROR_UNRECOGNIZED_INPUT;
inline constexpr nvJitLinkResult kNoLinkTimeOptimization =
    NVJITLINK_ERROR_LTO_NOT_ENABLED;
#else
inline constexpr bool kIs13 = false;
inline constexpr unsigned kMajor = 12;
inline constexpr unsigned kMinor = 8;
inline constexpr nvJitLinkResult kIncompatibleOptions =
    NVJITLINK_ERROR_INVALID_INPUT;
inline constexpr nvJitLinkResult kIncorrectType = NVJITLINK_ERROR_INVALID_INPUT;
// The headers of 12.4, which this is compiled with, have no name for it.
inline constexpr auto kUnrecognizedInput = static_cast<nvJitLinkResult>(8);
inline constexpr nvJitLinkResult kNoLinkTimeOptimization =
    NVJITLINK_ERROR_INTERNAL;
#endif

} // namespace accelerator::nvjitlink
