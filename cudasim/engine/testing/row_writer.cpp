#include "cudasim/engine/testing/row_writer.h"

#include <algorithm>
#include <map>

#include "cudasim/engine/instructions/key.h"
#include "cudasim/ptx/ast.h"

namespace cudasim::engine::testing {
namespace {

using ptx::Space;
using ptx::Type;

constexpr Type kRegisterTypes[] = {
    Type::kPred,
    Type::kB8,
    Type::kB16,
    Type::kB32,
    Type::kB64,
    Type::kB128,
    Type::kU16,
    Type::kU32,
    Type::kU64,
    Type::kS16,
    Type::kS32,
    Type::kS64,
    Type::kF16,
    Type::kF32,
    Type::kF64,
    Type::kF16x2};
constexpr int kRegisters = 6; // of each type

std::string type_name(Type type) {
  return std::string(ptx::name_of(type));
}

Type bits_of(std::size_t bytes) {
  return bytes == 1 ? Type::kB8
      : bytes == 2  ? Type::kB16
      : bytes == 4  ? Type::kB32
      : bytes == 8  ? Type::kB64
                    : Type::kB128;
}

bool is_register_type(Type type) {
  return std::find(
             std::begin(kRegisterTypes), std::end(kRegisterTypes), type) !=
      std::end(kRegisterTypes);
}

bool is_one_of(Type type, std::initializer_list<Type> list) {
  return std::find(list.begin(), list.end(), type) != list.end();
}

std::string list_of(const std::vector<std::string>& operands) {
  std::string text;
  for (const std::string& operand : operands) {
    text += (text.empty() ? " " : ", ") + operand;
  }
  return text;
}

/// Keys leave out what says nothing about the result, and have the words in an
/// order of their own.
std::string spelled(const std::string& key) {
  const auto begins = [&](const char* with) { return key.rfind(with, 0) == 0; };
  const auto ends = [&](const std::string& with) {
    return key.size() >= with.size() &&
        key.compare(key.size() - with.size(), with.size(), with) == 0;
  };
  std::string text = key;
  if ((begins("atom") || begins("red.")) && (ends("f16") || ends("f16x2"))) {
    text.insert(text.rfind('.'), ".noftz");
  } else if (begins("prefetch")) {
    text += ".L1";
  } else if (key == "cp.async.shared.global") {
    text = "cp.async.ca.shared.global";
  } else if (
      begins("barrier.") && key.find(".aligned.red.") != std::string::npos) {
    text.erase(text.find(".aligned"), 8);
    text.insert(text.rfind('.'), ".aligned");
  } else if (begins("vabsdiff") && key.find(".add.") != std::string::npos) {
    text.erase(text.find(".add"), 4);
    text += ".add";
  }
  return text;
}

} // namespace

std::vector<KeyedRow> all_rows() {
  static std::vector<KeyedRow>* list = nullptr;
  std::vector<KeyedRow> rows;
  list = &rows;
  // for_each_entry takes a plain function.
  for_each_entry([](const char* family, const Entry& entry) {
    list->push_back(
        {spelled(entry.key),
         family,
         {&entry, parse_shape(entry.operands, types_in(entry.key))}});
  });
  return rows;
}

std::string module_declarations() {
  return ".global .align 16 .b8 in_global[256];\n"
         ".const .align 16 .b8 in_const[256];\n";
}

std::string body_declarations() {
  std::string text;
  for (const Type type : kRegisterTypes) {
    text += ".reg ." + type_name(type) + " %" + type_name(type) + "_<" +
        std::to_string(kRegisters) + ">;\n";
  }
  return text +
      ".local .align 16 .b8 in_local[256];\n"
      ".shared .align 16 .b8 in_shared[256];\n"
      "LIST: .branchtargets LABEL_0, LABEL_1, LABEL_2, LABEL_3;\n";
}

std::string RowWriter::reg(Type type) {
  return "%" + type_name(type) + "_" + std::to_string(below(kRegisters));
}

std::string RowWriter::constant(const OperandShape& shape) {
  if (!shape.choices.empty()) {
    return std::to_string(
        shape.choices[below(static_cast<std::uint32_t>(shape.choices.size()))]);
  }
  if (shape.high != ~std::uint64_t{0}) {
    const std::uint64_t steps = (shape.high - shape.low) / shape.step;
    return std::to_string(
        shape.low +
        random_() % std::min<std::uint64_t>(steps + 1, 32) * shape.step);
  }
  constexpr const char* kNumbers[] = {
      "0", "1", "-1", "7", "31", "32", "255", "65535", "4294967295"};
  return kNumbers[below(std::size(kNumbers))];
}

std::string RowWriter::value(const OperandShape& shape) {
  const bool can_be_constant = !shape.written && !shape.variable &&
      (shape.type == Type::kF32 || shape.type == Type::kF64 ||
       is_one_of(
           shape.type,
           {Type::kB16,
            Type::kB32,
            Type::kB64,
            Type::kU8,
            Type::kU16,
            Type::kU32,
            Type::kU64,
            Type::kS8,
            Type::kS16,
            Type::kS32,
            Type::kS64,
            Type::kPred}));
  if (shape.constant || (can_be_constant && below(4) == 0)) {
    return shape.type == Type::kF32 ? "0f3FC00000"
        : shape.type == Type::kF64  ? "0d4004000000000000"
        : shape.type == Type::kPred ? "1"
                                    : constant(shape);
  }
  if (shape.may_discard && below(8) == 0) {
    return "_";
  }
  if (is_register_type(shape.type) && below(2) == 0) {
    return reg(shape.type);
  }
  if (shape.type == Type::kPred) {
    return (shape.written || below(3) != 0 ? "" : "!") + reg(shape.type);
  }
  std::size_t bytes = ptx::size_of(shape.type);
  if (shape.relaxed && shape.type != Type::kBF16 &&
      shape.type != Type::kBF16x2 && below(3) == 0) {
    bytes = std::min<std::size_t>(8, 2 * bytes);
  }
  return reg(bits_of(bytes));
}

std::string RowWriter::value_or_list(const OperandShape& shape) {
  if (shape.vector == 0) {
    return value(shape);
  }
  // Registers of one width in each list, and one that is not discarded.
  OperandShape plain = shape;
  plain.may_discard = false;
  plain.relaxed = false;
  const bool wide = shape.relaxed && below(3) == 0;
  std::string text;
  for (std::uint32_t i = 0; i < shape.vector; ++i) {
    text += (text.empty() ? "{" : ", ") +
        (shape.may_discard && i != 0 && below(8) == 0 ? std::string("_")
             : wide ? reg(bits_of(std::min<std::size_t>(
                          8, 2 * ptx::size_of(shape.type))))
                    : value(plain));
  }
  return text + "}";
}

std::string RowWriter::address(const OperandShape& shape) {
  const std::map<Space, std::string> names = {
      {Space::kGlobal, "in_global"},
      {Space::kConst, "in_const"},
      {Space::kLocal, "in_local"},
      {Space::kShared, "in_shared"},
      {Space::kParam, "in_param"},
      {Space::kNone, "in_global"}};
  const std::string base = below(2) == 0               ? names.at(shape.space)
      : below(2) == 0 && shape.space == Space::kShared ? reg(Type::kB32)
                                                       : reg(Type::kB64);
  return "[" + base + (below(2) == 0 ? "" : "+16") + "]";
}

std::string RowWriter::object(const OperandShape& shape) {
  std::string text;
  std::uint32_t count = shape.coordinates;
  if (shape.layered) {
    text = reg(below(2) == 0 ? Type::kB32 : Type::kU32);
    ++count;
  }
  const Type type = below(2) == 0 ? Type::kB32 : shape.type;
  for (std::uint32_t i = 0; i < (count == 3 ? 4 : count); ++i) {
    if (!text.empty() && i == 0) {
      continue; // the layer
    }
    text += (text.empty() ? "" : ", ") + reg(type);
  }
  return "[" + reg(below(2) == 0 ? Type::kB64 : Type::kU64) +
      (text.empty() ? "]" : ", {" + text + "}]");
}

std::string RowWriter::operand(const OperandShape& shape) {
  switch (shape.kind) {
    case OperandShape::Kind::kObject:
      return object(shape);
    case OperandShape::Kind::kAddress:
      return address(shape);
    case OperandShape::Kind::kLabel:
      return "LABEL_" + std::to_string(below(4));
    case OperandShape::Kind::kTargets:
      return "LIST";
    default:
      break;
  }
  std::string text = value_or_list(shape);
  if (shape.needs_pair || (shape.paired && !shape.alone && below(2) == 0)) {
    text += "|" + reg(Type::kPred);
  }
  return text;
}

std::string RowWriter::fitting(const KeyedRow& row) {
  std::vector<std::string> operands;
  for (const OperandShape& shape : row.row.shape.operands) {
    if (shape.optional && below(2) == 0) {
      break;
    }
    operands.push_back(operand(shape));
  }
  return row.text + list_of(operands);
}

std::vector<Flaw> RowWriter::flawed(const KeyedRow& row) {
  std::vector<Flaw> flaws;
  const auto& shapes = row.row.shape.operands;
  std::vector<std::string> operands;
  for (const OperandShape& shape : shapes) {
    operands.push_back(operand(shape));
  }
  const auto add = [&](const char* what,
                       const std::vector<std::string>& changed) {
    flaws.push_back({what, row.text + list_of(changed)});
  };
  if (!shapes.empty() && !shapes.back().optional) {
    std::vector<std::string> fewer = operands;
    fewer.pop_back();
    add("one operand too few", fewer);
  }
  std::vector<std::string> more = operands;
  more.push_back("%f64_1");
  add("one operand too many", more);
  for (std::size_t i = 0; i < shapes.size(); ++i) {
    const OperandShape& shape = shapes[i];
    const auto change = [&](const char* what, const std::string& operand) {
      std::vector<std::string> changed = operands;
      changed[i] = operand;
      add(what, changed);
    };
    if (shape.kind == OperandShape::Kind::kAddress) {
      change("no address", "%b64_1");
      change("an address in a predicate", "[%pred_1]");
      change("an address in a float", "[%f64_1]");
      continue;
    }
    if (shape.kind == OperandShape::Kind::kObject) {
      change("no object", "%b64_1");
      change("an object in 32 bits", "[%b32_1, {%b32_1, %b32_1}]");
      change("three coordinates", "[%b64_1, {%b32_1, %b32_2, %b32_3}]");
      change("coordinates in a predicate", "[%b64_1, {%pred_1}]");
      continue;
    }
    if (shape.kind != OperandShape::Kind::kValue) {
      change("no label", "%b32_1");
      change("a label that is not there", "NOWHERE");
      continue;
    }
    change("an address for a value", "[in_global]");
    change("a register that is not declared", "%undeclared");
    if (shape.vector != 0) {
      change("a value for a list", "%b32_1");
      change("a list of another length", "{%b32_1, %b32_2, %b32_3}");
      continue;
    }
    if (shape.written) {
      change("a number that is written", "5");
    }
    if (shape.type == Type::kPred) {
      change("a register of 32 bits for a predicate", "%b32_1");
      continue;
    }
    change("a predicate for a number", "%pred_1");
    if (shape.constant) {
      change("a register for a constant", "%b32_1");
      continue;
    }
    const std::size_t bytes = ptx::size_of(shape.type);
    if (bytes < 8 && !shape.relaxed) {
      change("a register too wide", bytes == 4 ? "%b64_1" : "%b32_1");
    }
    if (bytes > 2) {
      change("a register too narrow", bytes == 8 ? "%b32_1" : "%b16_1");
    }
    if (is_one_of(
            shape.type,
            {Type::kU16,
             Type::kU32,
             Type::kU64,
             Type::kS16,
             Type::kS32,
             Type::kS64})) {
      change(
          "a float for an integer",
          bytes == 2       ? "%f16_1"
              : bytes == 4 ? "%f32_1"
                           : "%f64_1");
    }
    if (is_one_of(
            shape.type, {Type::kF16, Type::kF32, Type::kF64, Type::kBF16})) {
      change(
          "an integer for a float",
          bytes == 2       ? "%u16_1"
              : bytes == 4 ? "%u32_1"
                           : "%u64_1");
    }
  }
  return flaws;
}

} // namespace cudasim::engine::testing
