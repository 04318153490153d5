// The functions of MPFR 4 that tests call, by its manual (chapters 4.2 and 5):
// Debian has its own header in a package that no compiler needs.
#pragma once

extern "C" {

struct mpfr_number {
  long precision; // bits
  int sign;
  long exponent;
  unsigned long* limbs;
};

enum mpfr_rounding {
  kMpfrToNearest = 0,
  kMpfrToZero = 1,
  kMpfrUp = 2,
  kMpfrDown = 3,
};

/// The range of exponents of all numbers of the thread; 0.5 has exponent 0.
int mpfr_set_emin(long exponent);
int mpfr_set_emax(long exponent);

void mpfr_init2(mpfr_number* x, long precision);
void mpfr_clear(mpfr_number* x);
double mpfr_get_d(const mpfr_number* x, mpfr_rounding rounding);

// All return how the result lies to the exact one: 0, below (-) or above (+).
int mpfr_set_d(mpfr_number* x, double value, mpfr_rounding rounding);
int mpfr_set_ld(mpfr_number* x, long double value, mpfr_rounding rounding);
int mpfr_add(
    mpfr_number* x,
    const mpfr_number* a,
    const mpfr_number* b,
    mpfr_rounding rounding);
int mpfr_sub(
    mpfr_number* x,
    const mpfr_number* a,
    const mpfr_number* b,
    mpfr_rounding rounding);
int mpfr_mul(
    mpfr_number* x,
    const mpfr_number* a,
    const mpfr_number* b,
    mpfr_rounding rounding);
int mpfr_div(
    mpfr_number* x,
    const mpfr_number* a,
    const mpfr_number* b,
    mpfr_rounding rounding);
int mpfr_fma(
    mpfr_number* x,
    const mpfr_number* a,
    const mpfr_number* b,
    const mpfr_number* c,
    mpfr_rounding rounding);
int mpfr_sqrt(mpfr_number* x, const mpfr_number* a, mpfr_rounding rounding);

/// Rounds a result to the range of exponents, and to fewer bits where it is
/// denormal.
/// @param ternary what the function returned that gave the result.
int mpfr_check_range(mpfr_number* x, int ternary, mpfr_rounding rounding);
int mpfr_subnormalize(mpfr_number* x, int ternary, mpfr_rounding rounding);

} // extern "C"
