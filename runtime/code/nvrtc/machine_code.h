// What NVRTC gives for machine code here: PTX, behind a mark by which other
// libraries tell it from a program's own PTX.
#pragma once

#include <string_view>

namespace accelerator::nvrtc {

/// A comment to whoever reads it as PTX.
inline constexpr std::string_view kMachineCodeMark =
    "// PTX in place of machine code, by torch_cuda\n";

/// Whether code was asked for as machine code.
inline bool stands_for_machine_code(std::string_view code) {
  return code.substr(0, kMachineCodeMark.size()) == kMachineCodeMark;
}

} // namespace accelerator::nvrtc
