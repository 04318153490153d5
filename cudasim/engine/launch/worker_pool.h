// Host threads that execute blocks, kept for the life of the process.
#pragma once

#include <functional>

namespace cudasim::engine {

/// Runs `work` on the calling thread and on up to `workers - 1` others at the
/// same time, and returns when all of them are done. `work` is expected to take
/// pieces from a common supply, so it does not matter how many get started: a
/// thread that is busy with another launch takes no part. `work` does not
/// throw.
void run_on_workers(unsigned workers, const std::function<void()>& work);

} // namespace cudasim::engine
