// Reading arguments only to see whether a call is CUDA's.
#pragma once

#include <c10/util/Exception.h>

namespace torch_cuda::intra_file {

// Drops this thread's warnings while it lives.
//
// A replacement that hands the call on has the original read the arguments once
// more, and the original gives the warnings about them (a deprecated device
// name, for one). Given twice, they would also meet the original's error.
class SilentWarnings {
  class Drop : public c10::WarningHandler {
    void process(const c10::Warning& /*warning*/) override {}
  };

  Drop drop_;
  c10::WarningUtils::WarningHandlerGuard guard_{&drop_};
};

} // namespace torch_cuda::intra_file
