/* The smallest library that a test can see at work. */
int torch_cuda_sample_answer(void) {
  return 42;
}
