#include "cudasim/engine/lowering/operand_lowering.h"

#include <cstring>
#include <stdexcept>

#include "cudasim/engine/instructions/registry.h"
#include "cudasim/engine/verify/operand_types.h"
#include "cudasim/engine/verify/vocabulary.h"
#include "cudasim/ptx/special_registers.h"

namespace cudasim::engine {

using ptx::Operand;
using ptx::Type;
using Kind = ptx::Operand::Kind;

std::uint32_t OperandLowering::new_register(Type type, bool permanent) {
  const std::uint32_t width = register_width(type);
  registers_.push_back({width == 0 ? 4 : kLanes * width, permanent});
  register_widths_.push_back(static_cast<std::uint8_t>(width));
  return static_cast<std::uint32_t>(registers_.size() - 1);
}

Source OperandLowering::register_source(std::uint32_t index) const {
  Source source;
  source.kind = Source::Kind::kRegister;
  source.index = index;
  source.width = register_widths_[index];
  return source;
}

Source OperandLowering::scratch(Type type) {
  return register_source(new_register(type));
}

Source OperandLowering::declared_register(const Binding& binding) {
  const auto [found, is_new] = used_.try_emplace(binding.index, 0);
  if (is_new) {
    found->second = new_register(binding.type);
  }
  return register_source(found->second);
}

Source OperandLowering::special(Special special, std::uint8_t width) {
  const auto [found, is_new] = specials_.try_emplace({special, width}, 0);
  if (is_new) {
    found->second = new_register(width == 8 ? Type::kB64 : Type::kB32, true);
  }
  return register_source(found->second);
}

Source OperandLowering::constant(std::uint64_t bits, std::uint32_t width) {
  Source source;
  source.kind = Source::Kind::kConstant;
  source.slot = constants_.place(bits, width);
  source.width = static_cast<std::uint8_t>(width);
  return source;
}

Source OperandLowering::address_constant(
    std::uint64_t address,
    std::uint32_t width) {
  const Source source = constant(address, width);
  addresses_.insert(source.slot);
  return source;
}

Source OperandLowering::immediate(const Operand& operand, Type type) {
  std::uint64_t bits = operand.bits;
  const std::uint32_t width = register_width(type);
  if (operand.kind == Kind::kFloat) {
    // A constant 0f… of 64 bits has these 32 below zeros, as ptxas has it.
    if (width == 4 && !operand.single) {
      double value = 0;
      std::memcpy(&value, &bits, 8);
      const auto narrow = static_cast<float>(value);
      std::uint32_t word = 0;
      std::memcpy(&word, &narrow, 4);
      bits = word;
    }
  }
  return constant(bits, width);
}

/// A name that is no register: the address of what it stands for.
Source OperandLowering::named(
    const OperandShape& shape,
    const Operand& operand) {
  const std::uint32_t width = register_width(shape.type);
  const auto offset = static_cast<std::uint64_t>(operand.offset);
  Binding binding;
  if (names_.find(operand.name, &binding)) {
    if (binding.kind == Binding::Kind::kRegister) {
      Source source = declared_register(binding);
      source.negated = operand.negated;
      return source;
    }
    const std::uint64_t place = places_.offset_of(*binding.variable) + offset;
    if (binding.kind != Binding::Kind::kLocal) {
      return constant(place, width);
    }
    const Source sum = scratch(Type::kB64);
    run("add.s64",
        sum,
        {special(Special::kLocalFrame, 8), constant(place, 8)},
        before_);
    return converted(sum, shape.type);
  }
  const auto shared = kernel_.shared_offsets.find(operand.name);
  if (shared != kernel_.shared_offsets.end()) {
    return constant(shared->second + offset, width);
  }
  const std::uint64_t address = kernel_.address_of(operand.name);
  if (address != 0) {
    return address_constant(address + offset, width);
  }
  const ptx::Function* function = kernel_.module.find(operand.name);
  if (function != nullptr) {
    return address_constant(function_address(*function), width);
  }
  if (operand.name == "WARP_SZ") {
    return constant(kLanes, width);
  }
  kernel_.fail(
      function_, operand.location, "'" + operand.name + "' has no address");
}

Source OperandLowering::special_register(
    const OperandShape& shape,
    const Operand& operand) {
  const std::string name = operand.name +
      (operand.component != 0 ? std::string(".") + operand.component : "");
  const Handler handler = changing_register(name);
  if (handler != nullptr) {
    PendingInstruction read;
    read.inst.run = handler;
    read.inst.destinations = 1;
    read.operands = {scratch(ptx::special_register_type(operand.name))};
    read.text = "mov";
    before_.push_back(read);
    return read.operands[0];
  }
  Special found;
  if (!find_special(name, &found)) {
    kernel_.fail(
        function_,
        operand.location,
        "the special register '" + name + "' is not supported");
  }
  return special(found, register_width(shape.type) == 8 ? 8 : 4);
}

Source OperandLowering::value(
    const OperandShape& shape,
    const Operand& operand,
    bool exact) {
  switch (operand.kind) {
    case Kind::kSink:
      return scratch(shape.type);
    case Kind::kSpecialRegister:
      return special_register(shape, operand);
    case Kind::kInteger:
    case Kind::kFloat:
      return immediate(operand, shape.type);
    default:
      break;
  }
  const Source source = named(shape, operand);
  if (!exact || source.width == ptx::size_of(shape.type)) {
    return source;
  }
  return shape.written ? written_through(source, shape.type)
                       : converted(source, shape.type);
}

void OperandLowering::run(
    const char* key,
    const Source& target,
    const std::vector<Source>& sources,
    std::vector<PendingInstruction>& where) {
  const std::vector<Row>* rows = find_rows(best_isa(), key);
  if (rows == nullptr) {
    throw std::logic_error(std::string(key) + " is missing");
  }
  PendingInstruction helper;
  helper.inst.run = rows->front().entry->handler;
  helper.inst.immediate = rows->front().entry->immediate;
  helper.inst.destinations = 1;
  helper.operands = {target};
  helper.operands.insert(helper.operands.end(), sources.begin(), sources.end());
  helper.text = key;
  where.push_back(std::move(helper));
}

namespace {

/// The conversion between registers of so many bytes.
std::string conversion(std::size_t to, std::size_t from) {
  return "cvt.u" + std::to_string(8 * to) + ".u" + std::to_string(8 * from);
}

} // namespace

Source OperandLowering::converted(const Source& source, Type type) {
  const std::uint32_t width = register_width(type);
  if (width == source.width) {
    return source;
  }
  const Source result = scratch(type);
  run(conversion(width, source.width).c_str(), result, {source}, before_);
  return result;
}

Source OperandLowering::written_through(const Source& target, Type type) {
  const Source result = scratch(type);
  run(conversion(target.width, register_width(type)).c_str(),
      target,
      {result},
      behind_);
  return result;
}

Source OperandLowering::address(
    const OperandShape& shape,
    const Operand& operand,
    std::int64_t* offset) {
  *offset = operand.offset;
  const Operand& base = operand.elements[0];
  if (base.kind == Kind::kInteger) {
    *offset += static_cast<std::int64_t>(base.bits);
    return {};
  }
  Binding binding;
  if (names_.find(base.name, &binding)) {
    if (binding.kind == Binding::Kind::kRegister) {
      const Source source = declared_register(binding);
      // The address of a whole matrix is one of 64 bits always.
      return source.width == 2 || shape.lines != 0
          ? converted(source, Type::kB64)
          : source;
    }
    *offset += static_cast<std::int64_t>(places_.offset_of(*binding.variable));
    return binding.kind == Binding::Kind::kLocal
        ? special(Special::kLocalFrame, 8)
        : Source{};
  }
  const auto shared = kernel_.shared_offsets.find(base.name);
  const std::uint64_t place = shared != kernel_.shared_offsets.end()
      ? shared->second
      : kernel_.address_of(base.name);
  if (place == 0 && shared == kernel_.shared_offsets.end()) {
    kernel_.fail(
        function_, base.location, "'" + base.name + "' has no address");
  }
  *offset += static_cast<std::int64_t>(place);
  return {};
}

Source OperandLowering::whole_address(
    const OperandShape& shape,
    const Operand& operand) {
  std::int64_t offset = 0;
  const Source base = address(shape, operand, &offset);
  const auto bits = static_cast<std::uint64_t>(offset);
  if (base.width == 0) {
    return constant(bits, 8);
  }
  if (offset == 0) {
    return base;
  }
  const bool wide = base.width == 8;
  const Source sum = scratch(wide ? Type::kB64 : Type::kB32);
  run(wide ? "add.s64" : "add.s32",
      sum,
      {base, constant(bits, base.width)},
      before_);
  return sum;
}

} // namespace cudasim::engine
