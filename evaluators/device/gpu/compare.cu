// The kernels that compare a candidate's output with remembered answers (helper_kernels.h). The
// text of compare_core.h and helpers.cu comes before this one; launched as those of helpers.cu are.

namespace winnow_helpers {

using winnow::evaluators::ErrorTotals;

constexpr unsigned kMostThreads = 256; // of a block

// Returns the totals of all threads of the block to its thread 0.
__device__ inline ErrorTotals totals_of_block(const ErrorTotals& mine) {
  __shared__ Bits64 words[kMostThreads * sizeof(ErrorTotals) / sizeof(Bits64)];
  auto* of_thread = reinterpret_cast<ErrorTotals*>(words);
  of_thread[threadIdx.x] = mine;
  for (unsigned left = blockDim.x; left > 1;) {
    const unsigned half = (left + 1) / 2;
    __syncthreads();
    if (threadIdx.x + half < left) {
      of_thread[threadIdx.x].add(of_thread[threadIdx.x + half]);
    }
    left = half;
  }
  return of_thread[threadIdx.x];
}

} // namespace winnow_helpers

// Adds to `totals`, the fields of an ErrorTotals as four 64-bit numbers. Non-negative doubles are in
// the order of their bits. Each block adds once: additions by all threads to one address take longer
// than the comparison.
__global__ void winnow_compare(const unsigned char* got, unsigned long long count, int dtype,
                               int element_bytes, const double* expected, const double* magnitude,
                               double unit, double multiple, double rounding, double absolute,
                               int nan_allowed, unsigned long long* totals) {
  using namespace winnow_helpers;
  winnow::evaluators::ErrorLimits limits;
  limits.unit = unit;
  limits.multiple = multiple;
  limits.rounding = rounding;
  limits.absolute = absolute;
  limits.nan_allowed = nan_allowed != 0;
  winnow::evaluators::ErrorTotals mine;
  const auto size = static_cast<Bits64>(element_bytes);
  for (Bits64 i = first_index(); i < count; i += index_step()) {
    const double value = winnow::tasks::core::element_value(static_cast<DType>(dtype),
                                                            load_bits(got + i * size, element_bytes));
    mine.add(winnow::evaluators::error_of(value, expected[i], magnitude[i], limits));
  }
  mine = totals_of_block(mine);
  if (threadIdx.x != 0) {
    return;
  }
  if (mine.beyond != 0) {
    atomicAdd(totals, mine.beyond);
  }
  if (mine.counted != 0) {
    atomicAdd(totals + 1, mine.counted);
    atomicAdd(reinterpret_cast<double*>(totals + 3), mine.square_sum);
  }
  if (mine.max_ratio > 0) {
    atomicMax(totals + 2, __builtin_bit_cast(Bits64, mine.max_ratio));
  }
}

// Adds the number of 8-byte words that differ to *beyond.
__global__ void winnow_count_differences(const unsigned char* got, const unsigned char* expected,
                                         unsigned long long bytes, unsigned long long* beyond) {
  using namespace winnow_helpers;
  Bits64 mine = 0;
  for (Bits64 i = first_index(); i < (bytes + 7) / 8; i += index_step()) {
    mine += load_word(got + 8 * i, bytes - 8 * i) != load_word(expected + 8 * i, bytes - 8 * i);
  }
  if (mine != 0) {
    atomicAdd(beyond, mine);
  }
}
