/*@winnow
{ "launches": [ { "kernel": "spmv_reference", "grid": ["rows"], "block": [32],
                  "args": ["row_ptr", "col", "values", "x", "z", "y", "y_magnitude", "alpha",
                           "beta"] } ] }
@*/
__device__ double warp_sum(double value) {
  for (int offset = 16; offset > 0; offset /= 2) {
    value += __shfl_xor_sync(0xffffffff, value, offset);
  }
  return value;
}

// A warp for each row, because a row may have millions of entries. A lane adds up every 32nd block
// of 32 entries.
extern "C" __global__ void spmv_reference(const int* row_ptr, const int* col, const float* values,
                                          const float* x, const float* z, double* y,
                                          double* magnitude, float alpha, float beta) {
  const long long row = blockIdx.x, begin = row_ptr[row], end = row_ptr[row + 1];
  double sum = 0, size = 0;
  for (long long first = begin + threadIdx.x * 32LL; first < end; first += 32 * 32) {
    double block = 0;
    for (long long p = first; p < min(first + 32, end); ++p) {
      const double product = NARROW(product, (double)values[p] * (double)x[col[p]]);
      block += product;
      size += fabs(product);
    }
    sum += NARROW(partial_sum, block); // a kernel adds a block up first
  }
  sum = warp_sum(sum);
  size = warp_sum(size);
  if (threadIdx.x == 0) {
    const double added = (double)beta * (double)z[row];
    y[row] = (double)alpha * sum + added;
    // The sums before the last one are a share of it if the products have a mean. Their roundings
    // add up to sqrt(count / 3) times its rounding.
    size = fmax(size, sqrt((end - begin) / 3.0) * fabs(sum));
    magnitude[row] = fabs((double)alpha) * size + fabs(added);
  }
}
