// The registers that PTX defines itself. Source: PTX ISA 8.4, chapter 10.
#pragma once

#include <string_view>

namespace cudasim::ptx {

/// Whether `name` ("%tid", without a component) is a special register.
bool is_special_register(std::string_view name);

} // namespace cudasim::ptx
