/*@winnow
{ "launches": [ { "kernel": "spmm_reference", "grid": ["rows", "n"], "block": [32],
                  "args": ["row_ptr", "col", "values", "b", "c", "c_magnitude", "n"] } ] }
@*/
// A warp for each element, because a row may have millions of entries. A lane adds up every 32nd
// block of 32 entries.
extern "C" __global__ void spmm_reference(const int* row_ptr, const int* col, const float* values,
                                          const float* b, double* c, double* magnitude,
                                          long long n) {
  const long long row = blockIdx.x, column = blockIdx.y;
  const long long begin = row_ptr[row], end = row_ptr[row + 1];
  double sum = 0, size = 0;
  for (long long first = begin + threadIdx.x * 32LL; first < end; first += 32 * 32) {
    double block = 0;
    for (long long p = first; p < min(first + 32, end); ++p) {
      const double product = NARROW(product, (double)values[p] * (double)b[col[p] * n + column]);
      block += product;
      size += fabs(product);
    }
    sum += NARROW(partial_sum, block); // a kernel adds a block up first
  }
  __shared__ double sums[32], sizes[32];
  sums[threadIdx.x] = sum;
  sizes[threadIdx.x] = size;
  __syncthreads();
  if (threadIdx.x == 0) {
    for (int lane = 1; lane < 32; ++lane) {
      sum += sums[lane];
      size += sizes[lane];
    }
    c[row * n + column] = sum;
    // The sums before the last one are a share of it if the products have a mean. Their roundings
    // add up to sqrt(count / 3) times its rounding.
    magnitude[row * n + column] = fmax(size, sqrt((end - begin) / 3.0) * fabs(sum));
  }
}
