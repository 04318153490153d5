// Every row of the table, as the verifier sees it: what fits is taken, and what
// does not is refused at its place.
#include <gtest/gtest.h>

#include <map>
#include <string>

#include "cudasim/engine/testing/row_writer.h"
#include "cudasim/engine/verify/verifier.h"
#include "cudasim/ptx/parser.h"

namespace cudasim::engine {
namespace {

using testing::KeyedRow;
using testing::RowWriter;

/// sm_107a has most of what the rows are, and sm_120a matrices of its own.
std::string head_for(const std::string& instruction) {
  const bool is_own = instruction.find(".kind::") != std::string::npos;
  return std::string(".version 9.5\n.target ") +
      (is_own ? "sm_120a" : "sm_107a") + "\n.address_size 64\n";
}

/// The text of a module with one instruction, which begins its last line but
/// two.
std::string module_of(const std::string& instruction) {
  return head_for(instruction) + testing::module_declarations() +
      ".visible .entry kernel(.param .align 16 .b8 in_param[256]) {\n" +
      testing::body_declarations() + "LABEL_0: LABEL_1: LABEL_2: LABEL_3:\n" +
      instruction + ";\nret;\n}\n";
}

/// What the verifier says; empty when it takes the instruction.
std::string verdict(const std::string& instruction) {
  try {
    const auto module = ptx::parse_module(module_of(instruction), "test");
    ptx::Function& function = *module->functions.front();
    ptx::parse_body(*module, function);
    verify_module(*module);
    verify_body(*module, function);
    return "";
  } catch (const ptx::ParseError& error) {
    EXPECT_NE(error.location().line, 0u) << error.what();
    return error.what();
  }
}

TEST(Rows, TakeWhatFits) {
  RowWriter writer(1);
  for (const KeyedRow& row : testing::all_rows()) {
    for (int i = 0; i < 4; ++i) {
      const std::string instruction = writer.fitting(row);
      EXPECT_EQ(verdict(instruction), "") << instruction;
    }
  }
}

/// Whether a flaw is one whatever other rows the instruction has.
bool is_always(const std::string& flaw) {
  for (const char* what :
       {"one operand too many",
        "a register that is not declared",
        "a number that is written",
        "an address for a value"}) {
    if (flaw == what) {
      return true;
    }
  }
  return false;
}

TEST(Rows, RefuseWhatDoesNot) {
  RowWriter writer(2);
  std::map<std::string, int> rows_of;
  for (const KeyedRow& row : testing::all_rows()) {
    ++rows_of[row.text];
  }
  for (const KeyedRow& row : testing::all_rows()) {
    for (const auto& flaw : writer.flawed(row)) {
      if (rows_of[row.text] > 1 && !is_always(flaw.what)) {
        continue;
      }
      EXPECT_NE(verdict(flaw.instruction), "")
          << flaw.what << ": " << flaw.instruction;
    }
  }
}

TEST(Rows, SayWhereTheyComeFrom) {
  for (const KeyedRow& row : testing::all_rows()) {
    const std::string section = row.row.entry->section;
    EXPECT_EQ(section.rfind("9.7.", 0), 0u) << row.text;
  }
}

} // namespace
} // namespace cudasim::engine
