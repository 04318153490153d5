// A device's library: opens it, checks that it keeps to device_api.h, and gives
// its functions. For the runtime and for the conformance tests.
#pragma once

#include <stdexcept>
#include <string>
#include <vector>

#include "device/abi/device_api.h"

namespace accelerator {

/// A library that cannot be used: what was found, what is needed, what to do.
class LibraryError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// A function that failed, with the library's text.
class StatusError : public std::runtime_error {
 public:
  StatusError(accel_status status, const std::string& text)
      : std::runtime_error(text), status_(status) {}
  accel_status status() const {
    return status_;
  }

 private:
  accel_status status_;
};

/// Such as "ACCEL_NOT_READY"; "status 12345" for what has no name.
std::string name_of(accel_status status);
/// Such as "ACCEL_CAP_PEER".
std::string name_of(accel_capability capability);

/// A library that was opened. It stays loaded to the end of the process, since
/// threads of its own may still be in it.
class Library {
 public:
  /// Opens a shared library.
  /// @param path with a slash, or a name that the system's loader finds.
  /// @throws LibraryError when it is none of the device ABI, is of another
  /// version of it, or lacks a function that is required.
  explicit Library(const std::string& path);
  /// Takes the struct of a library that is in the process already.
  /// @param path its name in messages.
  Library(const std::string& path, const accel_api* api);
  /// Finalizes what was initialized.
  ~Library();
  Library(const Library&) = delete;
  Library& operator=(const Library&) = delete;

  /// Initializes the library, once, and asks what its devices can do.
  /// @param options KEY=VALUE pairs with commas between them, or "".
  /// @throws StatusError with what `initialize` answers; it can be tried again.
  /// @throws LibraryError when capabilities and functions do not go together.
  void initialize(const std::string& options);
  /// Finalizes it, once; nothing can be called any more.
  accel_status finalize();

  /// Its functions; those that it is too old for, or leaves out, are null.
  const accel_api& api() const {
    return api_;
  }
  const std::string& path() const {
    return path_;
  }
  /// One for each device, once it is initialized.
  const std::vector<accel_properties>& devices() const {
    return devices_;
  }
  /// Whether functions can be called: from initialize to finalize.
  bool is_initialized() const {
    return initialized_;
  }
  /// Whether a device has a capability.
  bool has(int32_t device, accel_capability capability) const {
    return (devices_.at(device).capabilities & capability) != 0;
  }
  /// Whether the functions of an optional group are there; true for
  /// capabilities without functions.
  bool has_functions(accel_capability capability) const;

 private:
  void take(const accel_api* api);
  void check_capabilities() const;

  std::string path_;
  accel_api api_ = {};
  std::vector<accel_properties> devices_;
  bool initialized_ = false;
};

} // namespace accelerator
