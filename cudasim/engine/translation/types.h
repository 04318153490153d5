// Types in the keys of rows, and constants, as the emitters read them.
#pragma once

#include <cstdint>
#include <string>

#include "cudasim/engine/translation/value.h"

namespace cudasim::engine {

/// The bits of a type's name such as "u32": 16, 32 or 64; 0 where it is
/// another, or does not begin with one of `letters`.
int bits_of(const std::string& type, const char* letters);

/// The lower bits of a number, extended by their sign.
std::int64_t cut(std::int64_t value, int bits);

/// The shape that an affine value of a shape `a` + `b` x factor has.
ValueShape sum_of(
    const ValueShape& a,
    const ValueShape& b,
    std::int64_t factor,
    int bits);

/// The number of a value that is a constant (Value::literal).
std::int64_t literal_value(const Value& value);

} // namespace cudasim::engine
