// A file that names a memory pool to other processes of the machine.
#pragma once

#include <cstdint>

namespace accelerator::runtime {

/// Makes one, whose descriptor is the caller's.
/// @param physical the number of the pool's device on the machine.
/// @throws Failure: cudaErrorOperatingSystem.
int write_pool_file(int physical);

/// The device of the pool that a file names.
/// @throws Failure: cudaErrorInvalidValue when the file is something else.
int read_pool_file(int file);

/// Memory of another process's pool, which pools give and take here.
void enter_pool_import(std::uint64_t begin);
/// Whether it is such memory; counts one of its users less.
bool leave_pool_import(std::uint64_t begin);

} // namespace accelerator::runtime
