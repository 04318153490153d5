// What goes wrong with files and processes of the host.
#pragma once

#include <stdexcept>
#include <string>

namespace accelerator::host {

class HostError : public std::runtime_error {
 public:
  enum class Kind {
    kEnded, // the process that something belongs to is not there any more
    kInvalid, // what was given names something else, or nothing
  };

  HostError(Kind kind, const std::string& message)
      : std::runtime_error(message), kind_(kind) {}
  Kind kind() const {
    return kind_;
  }

 private:
  Kind kind_;
};

} // namespace accelerator::host
