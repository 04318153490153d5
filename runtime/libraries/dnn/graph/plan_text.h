// Execution plans and devices as text, by which programs keep them.
#pragma once

#include <memory>
#include <string>

#include "runtime/libraries/dnn/graph/descriptor.h"

namespace accelerator::dnn {

/// An engine's configuration, with the whole operation graph, as JSON.
std::string write_plan(const State& configuration);

/// @throws Refusal: the text is none of write_plan() of this version.
std::shared_ptr<const State> read_plan(const std::string& text);

/// What programs keep of a device; all devices are the same to this library.
std::string write_device();

} // namespace accelerator::dnn
