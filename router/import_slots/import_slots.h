// Rewrites the slots through which loaded libraries call functions of others.
// Knows ELF, and nothing of torch.
#pragma once

#include <cstddef>

namespace accelerator::import_slots {

// One function of another library, and what is called in its place.
struct Redirection {
  // Its mangled name.
  const char* symbol;
  void* replacement;
  // The function itself: found by find_originals.
  void** original;
};

// Looks up the functions in the library whose file name begins with `library`,
// such as "libc10.so". Those that it has not are left as they were.
void find_originals(
    const char* library,
    const Redirection* redirections,
    std::size_t count);

// Lets every loaded library call the replacements; those that were loaded at
// the last call have been seen to. All calls before `restore` take the same
// arguments, and none runs beside another.
//
// Args:
//   skipped: folders with a slash at the end, whose libraries keep calling the
//     originals; a null pointer ends them.
// Returns how many slots were rewritten.
std::size_t redirect(
    const Redirection* redirections,
    std::size_t count,
    const char* const* skipped);

// Lets every loaded library call the originals again. Returns how many slots
// were rewritten.
std::size_t restore(const Redirection* redirections, std::size_t count);

} // namespace accelerator::import_slots
