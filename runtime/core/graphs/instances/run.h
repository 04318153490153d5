// How the steps of a graph come into a stream.
#pragma once

#include <memory>
#include <vector>

#include "runtime/core/graphs/instances/plan.h"
#include "runtime/core/tracing/tracing.h"

namespace accelerator::runtime {

class Stream;

/// Puts the initial values of the conditions into a stream that a launch has to
/// assign.
void put_initial(Stream& stream, const std::vector<Step>& steps);

/// Puts steps into a stream, one behind the other.
/// @param plan that the steps belong to; what comes to its turn later, as the
/// bodies of conditional nodes, keeps it.
void put_steps(
    Stream& stream,
    const std::vector<Step>& steps,
    tracing::Origin origin,
    const std::shared_ptr<const void>& plan);

} // namespace accelerator::runtime
