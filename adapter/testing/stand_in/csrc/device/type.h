// The stand-in's device type, by a name that says so.
#pragma once

#include <c10/core/DeviceType.h>

namespace torch_stand_in {

constexpr auto kStandIn = c10::DeviceType::PrivateUse1;

} // namespace torch_stand_in
