// What is said to who asks for tables of NVIDIA's driver.
#pragma once

#include <string>

namespace accelerator::driver {

/// What was found, what is needed and what to do, by the file that asks; empty
/// for a file that goes on without a table.
std::string export_table_message(const std::string& file);

} // namespace accelerator::driver
