// Functions of LTO IR that PTX alone calls. NVIDIA's compiler, asked for PTX,
// is not told of other inputs, and leaves out what no kernel of its own calls.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <vector>

namespace accelerator::nvjitlink {

/// LTO IR in which variables hold the addresses of functions, by NVIDIA's
/// NVRTC: these stay when it is linked with theirs.
/// @param capability 80 for sm_80.
/// @returns nothing where there is no NVRTC, or a name is none of C++.
std::string keeping_intermediate(
    const std::vector<std::string>& functions,
    std::uint32_t capability);

/// The functions that PTX with such variables defines.
std::set<std::string> kept_functions(
    const std::string& ptx,
    const std::vector<std::string>& functions);

/// That PTX without the variables, with the functions visible to other inputs.
std::string published(
    const std::string& ptx,
    const std::vector<std::string>& functions);

} // namespace accelerator::nvjitlink
