#include "cudasim/engine/verify/operand_types.h"

#include <cstdint>

namespace cudasim::engine {
namespace {

using ptx::Type;

enum class Class : std::uint8_t {
  kPredicate,
  kBits,
  kInteger,
  kFloat,
  /// bf16 and the like, which only instructions know: their registers have
  /// bits.
  kFormat,
};

Class class_of(Type type) {
  switch (type) {
    case Type::kPred:
      return Class::kPredicate;
    case Type::kB8:
    case Type::kB16:
    case Type::kB32:
    case Type::kB64:
    case Type::kB128:
      return Class::kBits;
    case Type::kF16:
    case Type::kF16x2:
    case Type::kF32:
    case Type::kF64:
      return Class::kFloat;
    case Type::kU8:
    case Type::kU16:
    case Type::kU32:
    case Type::kU64:
    case Type::kS8:
    case Type::kS16:
    case Type::kS32:
    case Type::kS64:
      return Class::kInteger;
    default:
      return Class::kFormat;
  }
}

} // namespace

bool is_integral(Type type) {
  const Class its = class_of(type);
  return its == Class::kInteger || its == Class::kBits;
}

bool is_float(Type type) {
  const Class its = class_of(type);
  return its == Class::kFloat || its == Class::kFormat;
}

bool is_bits(Type type) {
  return class_of(type) == Class::kBits;
}

bool VectorValues::add_register(Type type) {
  const std::size_t size = ptx::size_of(type);
  if (size_ != 0 && size != size_) {
    return false;
  }
  size_ = size;
  has_floats_ |= is_float(type);
  has_integers_ |= class_of(type) == Class::kInteger;
  return go_together();
}

bool VectorValues::add_constant(const ptx::Operand& constant) {
  (constant.kind == ptx::Operand::Kind::kFloat ? has_floats_ : has_integers_) =
      true;
  return go_together();
}

bool register_fits(Type operand, Type reg, bool relaxed) {
  const Class want = class_of(operand);
  const Class have = class_of(reg);
  if (want == Class::kPredicate || have == Class::kPredicate) {
    return want == have;
  }
  if (reg == Type::kB128) {
    return operand == Type::kB128;
  }
  const std::size_t size = ptx::size_of(operand);
  const std::size_t bytes = ptx::size_of(reg);
  if (bytes != size && !(relaxed && bytes > size && want != Class::kFormat)) {
    return false;
  }
  if (want == Class::kBits || have == Class::kBits) {
    return true;
  }
  return want == have && want != Class::kFormat &&
      (want == Class::kInteger || bytes == size);
}

bool constant_fits(Type operand, const ptx::Operand& constant) {
  if (constant.kind == ptx::Operand::Kind::kInteger) {
    const Class want = class_of(operand);
    return want != Class::kFloat && want != Class::kFormat;
  }
  switch (operand) {
    case Type::kF32:
    case Type::kF64:
      return true;
    case Type::kB32:
      return constant.single;
    case Type::kB64:
      return !constant.single;
    default:
      return false;
  }
}

} // namespace cudasim::engine
