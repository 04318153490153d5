// The host half of square.cu.

#ifdef __CUDACC__
#error "a host source was given to the device's compiler"
#endif

int square_of_host(int value) {
  return value * value * SIGN;
}
