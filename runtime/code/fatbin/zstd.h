// The system's libzstd.
#pragma once

#include <cstddef>
#include <string>

namespace accelerator::fatbin {

/// Unpacks one frame of zstd (RFC 8878) with libzstd.so.1, which is loaded when
/// it is first asked for.
/// @param data the frame, `size` bytes.
/// @param[out] text what was packed; it has its size already.
/// @returns whether the frame holds just as many bytes as `text` has.
/// @throws FatbinError if there is no libzstd.so.1.
bool unpack_zstd(const char* data, std::size_t size, std::string& text);

} // namespace accelerator::fatbin
