// Warps: shuffles, votes, matches and reductions, of all lanes, of some, and of
// several groups of lanes by one instruction.
#include <cuda_fp16.h>

#include "tests/cuda_programs/check.h"

constexpr unsigned kAll = 0xffffffffu;

struct Results {
  int shuffled[5][32];
  double wide[32];
  float pairs[32];
  unsigned votes[6][32];
  unsigned matches[3][32];
  int reduced[4][32];
  unsigned bits[3][32];
  int grouped[32];
  int branches[32];
  int exchanged[32];
  unsigned converged[32];
};

__device__ __noinline__ int sum_of_group(unsigned members, int value) {
  return __reduce_add_sync(members, value);
}

__global__ void use_warp(const int* values, Results* results) {
  const int lane = threadIdx.x;
  const int mine = values[lane];
  Results& r = *results;
  r.shuffled[0][lane] = __shfl_sync(kAll, mine, lane * 5);
  r.shuffled[1][lane] = __shfl_up_sync(kAll, mine, 3, 16);
  r.shuffled[2][lane] = __shfl_down_sync(kAll, mine, 2, 8);
  r.shuffled[3][lane] = __shfl_xor_sync(kAll, mine, 5);
  r.shuffled[4][lane] = __shfl_sync(kAll, mine, 1, 4);
  r.wide[lane] = __shfl_down_sync(kAll, mine * 0.125, 1);
  const half2 pair = __floats2half2_rn(mine, -mine);
  const half2 other = __shfl_xor_sync(kAll, pair, 1);
  r.pairs[lane] = __low2float(other) + 2 * __high2float(pair);

  r.votes[0][lane] = __ballot_sync(kAll, mine % 2);
  r.votes[1][lane] = __any_sync(kAll, mine > 90);
  r.votes[2][lane] = __all_sync(kAll, mine >= 0);
  r.votes[3][lane] = __activemask();
  if (lane % 3 == 1) {
    r.votes[4][lane] = __activemask();
    r.votes[5][lane] = __ballot_sync(0x92492492u, mine % 2);
  }
  __syncwarp();
  r.matches[0][lane] = __match_any_sync(kAll, mine % 5);
  r.matches[1][lane] =
      __match_any_sync(kAll, static_cast<long long>(mine % 2) << 40);
  int same = 7;
  r.matches[2][lane] = __match_all_sync(kAll, mine >= 0, &same) + same;

  r.reduced[0][lane] = __reduce_add_sync(kAll, mine);
  r.reduced[1][lane] = __reduce_min_sync(kAll, -mine);
  r.reduced[2][lane] = __reduce_max_sync(kAll, mine);
  r.bits[0][lane] = __reduce_and_sync(kAll, mine | 64u);
  r.bits[1][lane] = __reduce_or_sync(kAll, mine * 3u);
  r.bits[2][lane] = __reduce_xor_sync(kAll, mine + 11u);

  // Each group of lanes with the same remainder by itself.
  const unsigned alike = __match_any_sync(kAll, mine % 3);
  r.reduced[3][lane] = sum_of_group(alike, mine);
  const int leader = __ffs(alike) - 1;
  r.grouped[lane] = __shfl_sync(alike, mine, leader);

  // Lanes come to one exchange from two branches.
  int exchanged;
  if (lane < 16) {
    exchanged = __shfl_xor_sync(kAll, mine * 2, 16);
  } else {
    exchanged = __shfl_xor_sync(kAll, mine + 1, 16);
  }
  r.exchanged[lane] = exchanged;

  // Halves that part for different times, then meet.
  int steps = 0;
  for (int left = mine; left > 0; left -= lane < 16 ? 3 : 1) {
    ++steps;
  }
  __syncwarp();
  r.converged[lane] = __activemask();
  r.branches[lane] = __shfl_sync(kAll, steps, 31 - lane);
}

int main() {
  std::vector<int> values(32);
  for (int i = 0; i < 32; ++i) {
    values[i] = i * 37 % 101;
  }
  Results* results = to_device(std::vector<Results>(1));
  use_warp<<<1, 32>>>(to_device(values), results);
  CHECK_CUDA(cudaGetLastError());
  const std::vector<Results> copy = to_host(results, 1);
  const Results& r = copy[0];
  unsigned odd = 0;
  unsigned odd_thirds = 0;
  unsigned all_and = ~0u;
  unsigned all_or = 0;
  unsigned all_xor = 0;
  int sum = 0;
  int largest = 0;
  for (int i = 0; i < 32; ++i) {
    odd |= static_cast<unsigned>(values[i] % 2) << i;
    all_and &= values[i] | 64u;
    all_or |= values[i] * 3u;
    all_xor ^= values[i] + 11u;
    sum += values[i];
    largest = values[i] > largest ? values[i] : largest;
  }
  odd_thirds = odd & 0x92492492u;
  for (int i = 0; i < 32; ++i) {
    const int mine = values[i];
    expect_equal("shfl", i, r.shuffled[0][i], values[i * 5 % 32]);
    expect_equal("up", i, r.shuffled[1][i], values[i % 16 < 3 ? i : i - 3]);
    expect_equal("down", i, r.shuffled[2][i], values[i % 8 > 5 ? i : i + 2]);
    expect_equal("xor", i, r.shuffled[3][i], values[i ^ 5]);
    expect_equal("segments", i, r.shuffled[4][i], values[i / 4 * 4 + 1]);
    expect_equal("wide", i, r.wide[i], values[i == 31 ? i : i + 1] * 0.125);
    expect_equal("pairs", i, r.pairs[i], values[i ^ 1] - 2.0f * mine);
    expect_equal("ballot", i, r.votes[0][i], odd);
    expect_equal("any", i, r.votes[1][i], largest > 90 ? 1u : 0u);
    expect_equal("all", i, r.votes[2][i], 1u);
    expect_equal("active", i, r.votes[3][i], kAll);
    if (i % 3 == 1) {
      expect_equal("active third", i, r.votes[4][i], 0x92492492u);
      expect_equal("ballot of a third", i, r.votes[5][i], odd_thirds);
    }
    unsigned fifth = 0;
    unsigned half_mask = 0;
    int third_sum = 0;
    int first = -1;
    for (int j = 0; j < 32; ++j) {
      fifth |= (values[j] % 5 == mine % 5 ? 1u : 0u) << j;
      half_mask |= (values[j] % 2 == mine % 2 ? 1u : 0u) << j;
      if (values[j] % 3 == mine % 3) {
        third_sum += values[j];
        first = first < 0 ? j : first;
      }
    }
    expect_equal("match", i, r.matches[0][i], fifth);
    expect_equal("match of 64 bits", i, r.matches[1][i], half_mask);
    expect_equal("match all", i, r.matches[2][i], kAll + 1);
    expect_equal("sum", i, r.reduced[0][i], sum);
    expect_equal("minimum", i, r.reduced[1][i], -largest);
    expect_equal("maximum", i, r.reduced[2][i], largest);
    expect_equal("sum of a group", i, r.reduced[3][i], third_sum);
    expect_equal("and", i, r.bits[0][i], all_and);
    expect_equal("or", i, r.bits[1][i], all_or);
    expect_equal("xor", i, r.bits[2][i], all_xor);
    expect_equal("leader's", i, r.grouped[i], values[first]);
    expect_equal(
        "exchanged",
        i,
        r.exchanged[i],
        i < 16 ? values[i + 16] + 1 : values[i - 16] * 2);
    expect_equal("converged", i, r.converged[i], kAll);
    const int from = 31 - i;
    const int step = from < 16 ? 3 : 1;
    expect_equal("steps", i, r.branches[i], (values[from] + step - 1) / step);
  }
}
