// What glibc has since 2.28 and compilers on newer systems ask for, made of
// what 2.28 has. Part of each library that needs it, and seen by no other.
// Source: glibc's NEWS of 2.29 to 2.38; each function's manual page.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/stat.h>
#include <time.h>

// Zero says that a second thread may be there.
char __libc_single_threaded = 0; // NOLINT

// The header would make references to the newer functions of these.
long old_strtol(const char*, char**, int) __asm__("strtol");
unsigned long old_strtoul(const char*, char**, int) __asm__("strtoul");
long long old_strtoll(const char*, char**, int) __asm__("strtoll");
unsigned long long old_strtoull(const char*, char**, int) __asm__("strtoull");
int old_vsscanf(const char*, const char*, va_list) __asm__("vsscanf");
// The version of struct stat that these functions know by this number.
#if defined(__x86_64__)
#define STAT_VERSION 1
#elif defined(__aarch64__)
#define STAT_VERSION 0
#else
#error "glibc's bits/stat.h of 2.28 has the number of this processor."
#endif
int old_fxstat(int, int, struct stat*) __asm__("__fxstat");
int old_xstat(int, const char*, struct stat*) __asm__("__xstat");
int old_lxstat(int, const char*, struct stat*) __asm__("__lxstat");

// The newer ones read "0b1" in base 0 and 2, too (C23); nobody here writes it.
long __isoc23_strtol(const char* text, char** end, int base) {
  return old_strtol(text, end, base);
}

unsigned long __isoc23_strtoul(const char* text, char** end, int base) {
  return old_strtoul(text, end, base);
}

long long __isoc23_strtoll(const char* text, char** end, int base) {
  return old_strtoll(text, end, base);
}

unsigned long long __isoc23_strtoull(const char* text, char** end, int base) {
  return old_strtoull(text, end, base);
}

int __isoc23_sscanf(const char* text, const char* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  const int count = old_vsscanf(text, format, arguments);
  va_end(arguments);
  return count;
}

int fstat(int file, struct stat* found) {
  return old_fxstat(STAT_VERSION, file, found);
}

int stat(const char* path, struct stat* found) {
  return old_xstat(STAT_VERSION, path, found);
}

int lstat(const char* path, struct stat* found) {
  return old_lxstat(STAT_VERSION, path, found);
}

// For systems before glibc 2.30. A wait by any clock, as a short one by the
// clock of time(2), which may be set meanwhile. One that ends early looks like a
// wake-up without a cause, which callers expect. To wait on here would lose the
// wake-ups that come before the mutex is the caller's again.
int torch_cuda_wait_in_pieces(
    pthread_cond_t* condition,
    pthread_mutex_t* mutex,
    clockid_t clock,
    const struct timespec* until) {
  if (clock == CLOCK_REALTIME) {
    return pthread_cond_timedwait(condition, mutex, until);
  }
  const int64_t billion = 1000000000;
  const int64_t longest = billion / 10;
  struct timespec now;
  clock_gettime(clock, &now);
  const int64_t left = (until->tv_sec - now.tv_sec) * billion +
      (until->tv_nsec - now.tv_nsec);
  struct timespec real;
  clock_gettime(CLOCK_REALTIME, &real);
  const int64_t piece = left < 0 ? 0 : left < longest ? left : longest;
  const int64_t end = real.tv_nsec + piece;
  real.tv_sec += end / billion;
  real.tv_nsec = end % billion;
  const int status = pthread_cond_timedwait(condition, mutex, &real);
  return status == ETIMEDOUT && left > longest ? 0 : status;
}

typedef int (
    *Wait)(pthread_cond_t*, pthread_mutex_t*, clockid_t, const struct timespec*);

static Wait wait_of_system = NULL;

static void find_wait(void) {
  const Wait found = (Wait)dlsym(RTLD_DEFAULT, "pthread_cond_clockwait");
  wait_of_system = found != NULL ? found : torch_cuda_wait_in_pieces;
}

int pthread_cond_clockwait(
    pthread_cond_t* condition,
    pthread_mutex_t* mutex,
    clockid_t clock,
    const struct timespec* until) {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  pthread_once(&once, find_wait);
  return wait_of_system(condition, mutex, clock, until);
}
