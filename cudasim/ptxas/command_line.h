// The command line of ptxas, as far as a compiler in front of it may use it.
#pragma once

#include <stdexcept>
#include <string>
#include <vector>

namespace cudasim::ptxas {

/// An option or a file that ptxas would refuse, too.
class CommandLineError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

struct CommandLine {
  bool help = false;
  bool version = false;
  std::string input;
  std::string output = "elf.o"; // as ptxas names it
};

/// Reads arguments, without the program's name. Options that only machine code
/// depends on are taken and mean nothing here.
/// Source: ptxas --help (CUDA Binary Utilities, "ptxas options").
/// @throws CommandLineError.
CommandLine parse_command_line(const std::vector<std::string>& arguments);

} // namespace cudasim::ptxas
