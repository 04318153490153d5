// Lowering of registers, immediates, symbols and addresses.
#include "cudasim/engine/lowering/function_lowering.h"

#include <cstring>

#include "cudasim/engine/code/lowering_error.h"
#include "cudasim/engine/code/special_registers.h"
#include "cudasim/engine/lowering/vocabulary.h"

namespace cudasim::engine {

using ptx::Operand;
using ptx::Space;
using ptx::Type;
using Kind = ptx::Operand::Kind;

void FunctionLowering::fail(ptx::Location location, const std::string& what)
    const {
  throw LoweringError(
      kernel_.module.source_name + ":" + std::to_string(location.line) + ": " +
      what + ", in " + function_.name);
}

std::uint32_t FunctionLowering::new_register(Type type, bool permanent) {
  const std::uint32_t width = register_width(type);
  registers_.push_back({width == 0 ? 4 : kLanes * width, permanent});
  register_widths_.push_back(static_cast<std::uint8_t>(width));
  return static_cast<std::uint32_t>(registers_.size() - 1);
}

FunctionLowering::Source FunctionLowering::register_source(
    std::uint32_t index) const {
  Source source;
  source.kind = Source::Kind::kRegister;
  source.index = index;
  source.width = register_widths_[index];
  return source;
}

FunctionLowering::Source FunctionLowering::special(
    Special special,
    std::uint8_t width) {
  const auto [found, is_new] = specials_.try_emplace({special, width}, 0);
  if (is_new) {
    found->second = new_register(width == 8 ? Type::kB64 : Type::kB32, true);
  }
  return register_source(found->second);
}

FunctionLowering::Source FunctionLowering::constant(
    std::uint64_t bits,
    std::uint32_t width) {
  Source source;
  source.kind = Source::Kind::kConstant;
  source.slot = constants_.place(bits, width);
  source.width = static_cast<std::uint8_t>(width);
  return source;
}

FunctionLowering::Source FunctionLowering::immediate(
    const Operand& operand,
    Type type,
    std::uint32_t width) {
  std::uint64_t bits = operand.bits;
  if (operand.kind == Kind::kFloat) {
    if (width == 8 && operand.single) {
      const auto word = static_cast<std::uint32_t>(bits);
      float value = 0;
      std::memcpy(&value, &word, 4);
      const double wide = value;
      std::memcpy(&bits, &wide, 8);
    } else if (width == 4 && !operand.single) {
      double value = 0;
      std::memcpy(&value, &bits, 8);
      const auto narrow = static_cast<float>(value);
      std::uint32_t word = 0;
      std::memcpy(&word, &narrow, 4);
      bits = word;
    }
  } else if (type == Type::kF32 || type == Type::kF64) {
    // An integer where a float is expected: its value.
    const double value = static_cast<double>(static_cast<std::int64_t>(bits));
    const auto narrow = static_cast<float>(value);
    std::uint32_t word = 0;
    std::memcpy(&word, &narrow, 4);
    if (type == Type::kF32) {
      bits = word;
    } else {
      std::memcpy(&bits, &value, 8);
    }
  }
  return constant(bits, width);
}

FunctionLowering::Source FunctionLowering::symbol(
    const Operand& operand,
    std::uint32_t width) {
  Binding binding;
  if (scope_->find(operand.name, &binding)) {
    switch (binding.kind) {
      case Binding::Kind::kRegister: {
        Source source = register_source(binding.index);
        source.negated = operand.negated;
        return source;
      }
      case Binding::Kind::kLocal: {
        fail(
            operand.location,
            "the address of '" + operand.name + "' in '" + operand.name +
                "' cannot be a constant");
      }
      case Binding::Kind::kKernelParameter:
      case Binding::Kind::kShared:
        return constant(binding.offset + operand.offset, width);
    }
  }
  const auto shared = kernel_.shared_offsets.find(operand.name);
  if (shared != kernel_.shared_offsets.end()) {
    return constant(shared->second + operand.offset, width);
  }
  const std::uint64_t address = kernel_.address_of(operand.name);
  if (address != 0) {
    return constant(address + operand.offset, width);
  }
  const ptx::Function* function = kernel_.module.find(operand.name);
  if (function != nullptr) {
    return constant(function_address(*function), width);
  }
  if (operand.name == "WARP_SZ") {
    // The one constant that PTX defines by itself (PTX ISA 4.4.2).
    return constant(kLanes, width);
  }
  fail(operand.location, "'" + operand.name + "' is not declared");
}

FunctionLowering::Source FunctionLowering::special_register(
    const Operand& operand) {
  const std::string name = operand.name +
      (operand.component != 0 ? std::string(".") + operand.component : "");
  Special found;
  if (!find_special(name, &found)) {
    fail(
        operand.location,
        "the special register '" + name + "' is not supported");
  }
  return special(found, 4);
}

FunctionLowering::Source FunctionLowering::resolve(
    const Operand& operand,
    Type type,
    std::uint32_t width) {
  switch (operand.kind) {
    case Kind::kSink:
      return none();
    case Kind::kRegister:
    case Kind::kSymbol:
      return symbol(operand, width);
    case Kind::kSpecialRegister:
      return special_register(operand);
    case Kind::kInteger:
    case Kind::kFloat:
      return immediate(operand, type, width);
    default:
      fail(operand.location, "an operand of this form is not supported here");
  }
}

FunctionLowering::Source FunctionLowering::address(
    const Operand& operand,
    std::int64_t* offset) {
  *offset = operand.offset;
  if (operand.elements.size() != 1) {
    fail(operand.location, "an address with coordinates is not supported");
  }
  const Operand& base = operand.elements[0];
  if (base.kind == Kind::kInteger) {
    *offset += static_cast<std::int64_t>(base.bits);
    return none();
  }
  Binding binding;
  if (scope_->find(base.name, &binding)) {
    if (binding.kind == Binding::Kind::kRegister) {
      return register_source(binding.index);
    }
    *offset += static_cast<std::int64_t>(binding.offset);
    return binding.kind == Binding::Kind::kLocal
        ? special(Special::kLocalFrame, 8)
        : none();
  }
  const auto shared = kernel_.shared_offsets.find(base.name);
  const std::uint64_t place = shared != kernel_.shared_offsets.end()
      ? shared->second
      : kernel_.address_of(base.name);
  if (place == 0 && shared == kernel_.shared_offsets.end()) {
    fail(base.location, "'" + base.name + "' is not declared");
  }
  *offset += static_cast<std::int64_t>(place);
  return none();
}

} // namespace cudasim::engine
