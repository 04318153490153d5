// What a test has checked, for the table in docs/coverage/cudasim.md.
#pragma once

#include <set>
#include <string>

namespace cudasim::engine::testing {

/// Notes that the running test compared what an instruction did with an
/// independent expectation. When the environment variable CUDASIM_COVERAGE
/// names a file, the line "checked TAB key TAB test source" is added to it.
/// @param instruction with its modifiers, in any order: "add.s32".
void record_checked(const std::string& instruction);

/// Whether a family has the instruction in this form. Tests go through all
/// forms that modifiers and types could make and pass over those that PTX
/// lacks: the rows are held against ptxas (verify/ptxas_test.py), and
/// unchecked_instructions() against the tests.
bool is_instruction(const std::string& instruction);

/// Adds "has TAB family TAB key" to that file for every row.
void record_handlers();

/// Instructions that have a handler and were not noted so far in this process:
/// "family: key".
std::set<std::string> unchecked_instructions();

} // namespace cudasim::engine::testing
