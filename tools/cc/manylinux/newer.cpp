// What libstdc++ has since GLIBCXX_3.4.24 and CXXABI_1.3.11, and what the
// headers of newer compilers ask for, made of what those versions have. Part of
// each library that needs it, and seen by no other.
#include <exception>
#include <new>

extern "C" {

// The copy constructor and the destructor, which older headers have out of
// line.
void copy_exception_ptr(void* to, const void* from) __asm__(
    "_ZNSt15__exception_ptr13exception_ptrC1ERKS0_");
void destroy_exception_ptr(void* pointer) __asm__(
    "_ZNSt15__exception_ptr13exception_ptrD1Ev");

} // extern "C"

namespace std {

void __throw_bad_array_new_length() { // NOLINT
  throw std::bad_array_new_length();
}

namespace __exception_ptr { // NOLINT

// An exception_ptr is the exception's address: a copy counts one more, and the
// end of a copy one less.
void exception_ptr::_M_addref() noexcept {
  void* counted = nullptr;
  copy_exception_ptr(&counted, this);
}

void exception_ptr::_M_release() noexcept {
  void* counted = *reinterpret_cast<void**>(this);
  destroy_exception_ptr(&counted);
  *reinterpret_cast<void**>(this) = nullptr;
}

} // namespace __exception_ptr
} // namespace std
