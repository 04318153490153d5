#include "cudasim/engine/testing/instruction_harness.h"

#include <gtest/gtest.h>

#include <random>

#include "cudasim/engine/testing/test_device.h"

namespace cudasim::engine::testing {
namespace {

/// How many differences of one instruction are printed.
constexpr std::size_t kMostPrinted = 4;

std::string number(std::size_t value) {
  return std::to_string(value);
}

/// Bits in memory; a predicate is a 32-bit word.
int bytes_of(Register kind) {
  return kind == Register::k16 ? 2 : kind == Register::k64 ? 8 : 4;
}

std::string type_of(Register kind) {
  return "b" + number(8 * static_cast<std::size_t>(bytes_of(kind)));
}

/// "%d0" or "%s0", and for a predicate the word that it is loaded from.
std::string declare(const std::string& name, Register kind) {
  return kind == Register::kPredicate
      ? ".reg .pred " + name + ";\n.reg .b32 " + name + "w;\n"
      : ".reg ." + type_of(kind) + " " + name + ";\n";
}

/// Loads element %i of the array behind a parameter.
std::string load(
    const std::string& name,
    const std::string& parameter,
    Register kind) {
  const bool predicate = kind == Register::kPredicate;
  std::string text = "ld.param.u64 %p, [" + parameter + "];\n";
  text += "mad.wide.u32 %p, %i, " +
      number(static_cast<std::size_t>(bytes_of(kind))) + ", %p;\n";
  text += "ld.global." + type_of(kind) + " " + name + (predicate ? "w" : "") +
      ", [%p];\n";
  if (predicate) {
    text += "setp.ne.u32 " + name + ", " + name + "w, 0;\n";
  }
  return text;
}

std::string store(
    const std::string& name,
    const std::string& parameter,
    Register kind) {
  const bool predicate = kind == Register::kPredicate;
  std::string text = "ld.param.u64 %p, [" + parameter + "];\n";
  text += "mad.wide.u32 %p, %i, " +
      number(static_cast<std::size_t>(bytes_of(kind))) + ", %p;\n";
  if (predicate) {
    text += "selp.u32 " + name + "w, 1, 0, " + name + ";\n";
  }
  text += "st.global." + type_of(kind) + " [%p], " + name +
      (predicate ? "w" : "") + ";\n";
  return text;
}

/// $d0 to %d0, $0 to %s0.
std::string with_registers(const std::string& code) {
  std::string text;
  for (std::size_t i = 0; i < code.size(); ++i) {
    if (code[i] != '$') {
      text += code[i];
    } else {
      text += i + 1 < code.size() && code[i + 1] == 'd' ? "%" : "%s";
    }
  }
  return text;
}

std::string kernel_text(const Experiment& experiment) {
  std::string parameters = ".param .u64 masks";
  std::string registers =
      ".reg .b64 %p;\n.reg .b32 %i, %lane, %warp, %mask;\n.reg .pred %on;\n";
  std::string before;
  std::string after;
  for (std::size_t i = 0; i < experiment.results.size(); ++i) {
    const std::string name = "%d" + number(i);
    const std::string parameter = "result" + number(i);
    parameters += ", .param .u64 " + parameter;
    registers += declare(name, experiment.results[i].kind);
    before += load(name, parameter, experiment.results[i].kind);
    after += store(name, parameter, experiment.results[i].kind);
  }
  for (std::size_t i = 0; i < experiment.sources.size(); ++i) {
    const std::string name = "%s" + number(i);
    const std::string parameter = "source" + number(i);
    parameters += ", .param .u64 " + parameter;
    registers += declare(name, experiment.sources[i].kind);
    before += load(name, parameter, experiment.sources[i].kind);
  }
  std::string code = with_registers(experiment.code);
  // One instruction is guarded; several are jumped over.
  code = code.find(';') + 1 == code.size()
      ? "@%on " + code + "\n"
      : "@!%on bra OVER;\n" + code + "\nOVER:\n";
  return experiment.declarations + ".visible .entry kernel(" + parameters +
      ") {\n" + registers +
      "mov.u32 %lane, %tid.x;\n"
      "mov.u32 %warp, %ctaid.x;\n"
      "mad.lo.u32 %i, %warp, 32, %lane;\n"
      "ld.param.u64 %p, [masks];\n"
      "mad.wide.u32 %p, %warp, 4, %p;\n"
      "ld.global.u32 %mask, [%p];\n"
      "shr.u32 %mask, %mask, %lane;\n"
      "and.b32 %mask, %mask, 1;\n"
      "setp.ne.u32 %on, %mask, 0;\n" +
      before + code + after + "ret;\n}\n";
}

char* to_device(TestDevice& device, const Column& column) {
  const auto bytes = static_cast<std::size_t>(bytes_of(column.kind));
  auto* memory =
      static_cast<char*>(device.allocate(bytes * column.values.size()));
  for (std::size_t i = 0; i < column.values.size(); ++i) {
    std::memcpy(memory + i * bytes, &column.values[i], bytes);
  }
  return memory;
}

} // namespace

std::vector<Column> run_experiment(const Experiment& experiment) {
  TestDevice device;
  const std::string text = kernel_text(experiment);
  std::vector<const char*> buffers{
      reinterpret_cast<const char*>(device.copy_of(experiment.active))};
  for (const auto* columns : {&experiment.results, &experiment.sources}) {
    for (const Column& column : *columns) {
      buffers.push_back(to_device(device, column));
    }
  }
  Shape shape;
  shape.grid.x = static_cast<std::uint32_t>(experiment.active.size());
  try {
    device.load(text, experiment.target);
    std::vector<std::string> arguments;
    for (const char*& buffer : buffers) {
      arguments.emplace_back(
          reinterpret_cast<const char*>(&buffer), sizeof(buffer));
    }
    const Outcome outcome = device.run_packed("kernel", shape, arguments);
    if (outcome.fault != FaultKind::kNone) {
      ADD_FAILURE() << outcome.report << "in\n" << experiment.code;
      return {};
    }
  } catch (const std::exception& error) {
    ADD_FAILURE() << error.what() << "\nin\n" << text;
    return {};
  }
  std::vector<Column> results = experiment.results;
  for (std::size_t i = 0; i < results.size(); ++i) {
    const auto bytes = static_cast<std::size_t>(bytes_of(results[i].kind));
    for (std::size_t k = 0; k < results[i].values.size(); ++k) {
      Bits value = 0;
      std::memcpy(&value, buffers[1 + i] + k * bytes, bytes);
      results[i].values[k] = value;
    }
  }
  return results;
}

std::vector<Bits> sample(
    Register kind,
    const std::vector<Bits>& edges,
    unsigned salt) {
  std::mt19937_64 random(salt * 7919 + 1);
  const int width = kind == Register::kPredicate ? 1 : 8 * bytes_of(kind);
  const Bits mask = width == 64 ? ~Bits{0} : (Bits{1} << width) - 1;
  std::vector<Bits> values(kSamples);
  for (Bits& value : values) {
    const Bits word = random();
    if ((word & 1) != 0) {
      value = edges[(word >> 8) % edges.size()];
    } else {
      // Short and long numbers alike, and negative ones.
      value = random() >> (word >> 8 & 63);
      value = (word & 2) != 0 ? ~value : value;
      value = (word & 12) == 0 ? random() : value;
    }
    value &= mask;
  }
  return values;
}

std::vector<std::uint32_t> sample_masks() {
  std::vector<std::uint32_t> masks(kSamples / 32, 0xffffffffu);
  std::mt19937 random(5);
  for (std::size_t i = 0; i < masks.size(); i += 4) {
    masks[i] = static_cast<std::uint32_t>(random());
  }
  masks[1] = 1u << 31;
  masks[5] = 1;
  return masks;
}

void Differences::add(
    const std::vector<Bits>& operands,
    const std::string& what,
    Bits is,
    Bits expected) {
  if (++count_ > kMostPrinted) {
    return;
  }
  char number[32];
  const auto hexadecimal = [&](Bits value) {
    std::snprintf(
        number,
        sizeof(number),
        "0x%llx",
        static_cast<unsigned long long>(value));
    return std::string(number);
  };
  text_ += "  of (";
  for (std::size_t i = 0; i < operands.size(); ++i) {
    text_ += (i == 0 ? "" : ", ") + hexadecimal(operands[i]);
  }
  text_ += "): " + what + " is " + hexadecimal(is) + ", not " +
      hexadecimal(expected) + "\n";
}

Differences::~Differences() {
  if (count_ != 0) {
    ADD_FAILURE() << instruction_ << ": " << count_ << " differences\n"
                  << text_;
  }
}

std::string plain_code(const std::string& instruction, std::size_t sources) {
  std::string code = instruction + " $d0";
  for (std::size_t i = 0; i < sources; ++i) {
    code += ", $" + number(i);
  }
  return code + ";";
}

} // namespace cudasim::engine::testing
