// What libstdc++ has since GLIBCXX_3.4.24 and CXXABI_1.3.11, and what the
// headers of newer compilers ask for, made of what those versions have. Part of
// each library that needs it, and seen by no other.
#include <exception>
#include <new>

#include <dlfcn.h>

namespace {

// A function of libstdc++ itself. The linker would give what headers have
// inline under the same name, and that calls what calls this.
template <typename Function>
Function* of_library(const char* name) {
  static void* const library = dlopen("libstdc++.so.6", RTLD_NOW | RTLD_NOLOAD);
  return reinterpret_cast<Function*>(dlsym(library, name));
}

} // namespace

// The headers give all of namespace std to other libraries, libstdc++ among
// them, which would then call these.
__asm__(
    ".hidden _ZSt28__throw_bad_array_new_lengthv\n"
    ".hidden _ZNSt15__exception_ptr13exception_ptr9_M_addrefEv\n"
    ".hidden _ZNSt15__exception_ptr13exception_ptr10_M_releaseEv\n");

namespace std {

void __throw_bad_array_new_length() { // NOLINT
  throw std::bad_array_new_length();
}

namespace __exception_ptr { // NOLINT

// An exception_ptr is the exception's address: a copy counts one more, and the
// end of a copy one less.
void exception_ptr::_M_addref() noexcept {
  static auto* const copy = of_library<void(void*, const void*)>(
      "_ZNSt15__exception_ptr13exception_ptrC1ERKS0_");
  void* counted = nullptr;
  copy(&counted, this);
}

void exception_ptr::_M_release() noexcept {
  static auto* const destroy =
      of_library<void(void*)>("_ZNSt15__exception_ptr13exception_ptrD1Ev");
  void* counted = *reinterpret_cast<void**>(this);
  destroy(&counted);
  *reinterpret_cast<void**>(this) = nullptr;
}

} // namespace __exception_ptr
} // namespace std
