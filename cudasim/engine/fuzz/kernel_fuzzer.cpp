// Kernels made from the rows of the instructions, changed at random, through
// parser, verifier, lowering and execution: whatever the text says, it is a
// module that is refused, a kernel that faults, or one that ends. Registers are
// watched (engine/code/watched_registers.h), memory by the address sanitizer.
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <new>
#include <string>
#include <vector>

#include "cudasim/engine/check/findings.h"
#include "cudasim/engine/code/lowering_error.h"
#include "cudasim/engine/testing/row_writer.h"
#include "cudasim/engine/testing/test_device.h"
#include "cudasim/ptx/parser.h"

namespace {

using namespace cudasim::engine;
using namespace cudasim::engine::testing;
namespace ptx = cudasim::ptx;

const std::vector<KeyedRow>& rows() {
  static const std::vector<KeyedRow> all = all_rows();
  return all;
}

/// What became of the programs, told at the end.
struct Tally {
  unsigned long refused = 0;
  unsigned long faulted = 0;
  unsigned long ended = 0;
  ~Tally() {
    std::fprintf(
        stderr,
        "%lu programs ended, %lu faulted, %lu were refused\n",
        ended,
        faulted,
        refused);
  }
} tally;

/// What the fuzzer's bytes decide.
class Choices {
 public:
  Choices(const std::uint8_t* data, std::size_t size)
      : data_(data), size_(size) {}

  std::uint32_t below(std::uint32_t count) {
    std::uint32_t value = 0;
    for (int i = 0; i < 3; ++i) {
      value = value << 8 | next();
    }
    return count == 0 ? 0 : value % count;
  }
  std::uint64_t seed() {
    std::uint64_t value = 0;
    for (int i = 0; i < 8; ++i) {
      value = value << 8 | next();
    }
    return value;
  }
  bool is_empty() const {
    return at_ >= size_;
  }

 private:
  std::uint8_t next() {
    return at_ < size_ ? data_[at_++] : 0;
  }
  const std::uint8_t* data_;
  std::size_t size_;
  std::size_t at_ = 0;
};

/// One change of a text: a word or a character taken out, doubled, exchanged.
void change(std::string& text, Choices& choices) {
  if (text.empty()) {
    return;
  }
  const std::size_t at = choices.below(static_cast<std::uint32_t>(text.size()));
  const std::size_t length = 1 + choices.below(8);
  static const char* const kPieces[] = {
      "%b32_1",    "%b64_2", "%f32_1", "%pred_0",
      "%nothing",  "0",      "-1",     "18446744073709551615",
      "{",         "}",      "[",      "]",
      "|",         "!",      ".u64",   ".v4",
      ".shared",   "_",      ",",      ";",
      ".param",    ".reg",   "<",      "in_const",
      "+",         "-",      "%tid.x", "call",
      "0f7F800000"};
  switch (choices.below(5)) {
    case 0:
      text.erase(at, length);
      break;
    case 1:
      text.insert(at, text.substr(at, length));
      break;
    case 2:
      text.replace(at, length, kPieces[choices.below(std::size(kPieces))]);
      break;
    case 3:
      text.insert(at, kPieces[choices.below(std::size(kPieces))]);
      break;
    default:
      text[at] = static_cast<char>(' ' + choices.below(95));
  }
}

std::string program(Choices& choices) {
  RowWriter writer(choices.seed());
  // A function, so that calls have something to call.
  std::string text = module_declarations() +
      ".func (.param .b32 result) callee(.param .b32 argument) {\n"
      ".reg .b32 %a;\nld.param.b32 %a, [argument];\n"
      "add.s32 %a, %a, 1;\nst.param.b32 [result], %a;\nret;\n}\n"
      ".visible .entry kernel(.param .align 16 .b8 in_param[256]) {\n" +
      body_declarations() +
      ".param .b32 passed;\n.param .b32 returned;\n"
      // Registers have values that differ from lane to lane, and some addresses
      // that are good.
      "mov.u32 %b32_0, %tid.x;\nmov.u32 %b32_1, in_shared;\n"
      "mov.u64 %b64_0, in_global;\nmov.u64 %b64_1, in_local;\n"
      "cvta.local.u64 %b64_1, %b64_1;\nmov.u64 %b64_2, in_shared;\n"
      "mad.wide.u32 %b64_3, %b32_0, 4, %b64_0;\n"
      "shl.b32 %b32_2, %b32_0, 2;\nsetp.lt.u32 %pred_0, %b32_0, 7;\n";
  const std::uint32_t count = 1 + choices.below(24);
  const std::uint32_t flawed =
      choices.below(6) == 0 ? choices.below(count) : ~0u;
  for (std::uint32_t i = 0; i < count; ++i) {
    if (i % (count / 4 + 1) == 0) {
      text += "LABEL_" + std::to_string(i / (count / 4 + 1)) + ":\n";
    }
    const KeyedRow& row =
        rows()[choices.below(static_cast<std::uint32_t>(rows().size()))];
    if (choices.below(4) == 0) {
      text += choices.below(2) == 0 ? "@%pred_0 " : "@!%pred_1 ";
    }
    if (i == flawed) {
      const auto flaws = writer.flawed(row);
      text += flaws[choices.below(static_cast<std::uint32_t>(flaws.size()))]
                  .instruction;
    } else if (choices.below(16) == 0) {
      text += "call (returned), callee, (passed)";
    } else {
      text += writer.fitting(row);
    }
    text += ";\n";
  }
  text += "LABEL_1: LABEL_2: LABEL_3: ret;\n}\n";
  // Labels that the loop has placed are there once.
  for (const char* label : {"LABEL_1: ", "LABEL_2: ", "LABEL_3: "}) {
    const std::string line = std::string(label).substr(0, 7) + ":\n";
    if (text.find("\n" + line) != std::string::npos) {
      text.erase(text.rfind(label), std::strlen(label));
    }
  }
  if (choices.below(3) == 0) {
    for (std::uint32_t changes = 1 + choices.below(4); changes > 0; --changes) {
      change(text, choices);
    }
  }
  return text;
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(
    const std::uint8_t* data,
    std::size_t size) {
  Choices choices(data, size);
  testing::Shape shape;
  shape.grid = {1 + choices.below(2), 1, 1};
  shape.block = {1 + choices.below(70), 1, 1};
  shape.dynamic_shared_bytes = choices.below(2) * 128;
  shape.timeout_seconds = 0.25;
  Findings findings;
  shape.findings = choices.below(4) == 0 ? &findings : nullptr;
  TestDevice device;
  try {
    device.load(program(choices));
    for (const std::string& name : device.module().kernel_names()) {
      const auto& info = device.module().info(*device.module().kernel(name));
      std::vector<std::string> arguments;
      for (const auto& parameter : info.parameters) {
        arguments.emplace_back(parameter.size, '\1');
      }
      const Outcome outcome = device.run_packed(name, shape, arguments);
      ++(outcome.fault == FaultKind::kNone ? tally.ended : tally.faulted);
    }
  } catch (const ptx::ParseError&) {
    ++tally.refused;
  } catch (const LoweringError&) {
    ++tally.refused;
  } catch (const std::bad_alloc&) {
    ++tally.refused;
  }
  return 0;
}
