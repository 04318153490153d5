// Files without a name that processes on the same machine share. A handle says
// process and file descriptor; the other process opens that file through /proc,
// which the kernel allows to the same user. Handles come from anywhere, so only
// files that were made here are opened.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace accelerator::host {

/// Makes a file of zeros that does not get shorter, so that a mapping of it
/// stays good whatever its other users do.
/// @param name of its kind, and perhaps of the one.
/// @returns -1 when the host has none to give.
int create_shared_file(const std::string& name, std::uint64_t bytes);

/// Whether a file is one that create_shared_file() made, its name beginning
/// like that. Its size is in *bytes then.
bool is_shared_file(int file, const std::string& name, std::uint64_t* bytes);

/// Opens a file of another (or this) process here too, for reading and writing.
/// @param name what its name has to begin with, @param bytes gets its size.
/// @throws HostError: kEnded when the process has no such file, for instance
/// because it has ended; kInvalid when it is another kind of file.
int open_shared_file(
    std::int32_t process,
    std::int32_t file,
    const std::string& name,
    std::uint64_t* bytes);

/// A file of a process: what open_shared_file() takes.
struct FoundFile {
  std::int32_t process;
  std::int32_t file;
};

/// The files of all processes whose files this one may look at: those of its
/// user. Processes that come or end meanwhile may be missing.
/// @param name what their names begin with.
std::vector<FoundFile> find_shared_files(const std::string& name);

/// A number that nobody guesses; never 0.
std::uint64_t random_key();

} // namespace accelerator::host
