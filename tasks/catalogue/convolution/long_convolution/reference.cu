/*@winnow
{
  "scratch": { "u_sums": { "dtype": "f64", "count": "2 * batch * channels" },
               "h_sums": { "dtype": "f64", "count": "2 * channels" } },
  "launches": [
    { "kernel": "add_rows", "grid": ["batch * channels"], "block": [32],
      "args": ["u", "u_sums", "n"] },
    { "kernel": "add_rows", "grid": ["channels"], "block": [32], "args": ["h", "h_sums", "n"] },
    { "kernel": "reference", "grid": ["ceil_div(n, 128)", "channels", "batch"], "block": [128],
      "args": ["u", "h", "skip", "u_sums", "h_sums", "y", "y_magnitude", "n"] }
  ]
}
@*/
// The sum of a row and that of its squares.
extern "C" __global__ void add_rows(const float* x, double* sums, long long n) {
  double sum = 0, squares = 0;
  for (long long t = threadIdx.x; t < n; t += 32) {
    const double number = x[blockIdx.x * n + t];
    sum += number;
    squares += number * number;
  }
  for (int offset = 16; offset > 0; offset /= 2) {
    sum += __shfl_xor_sync(0xffffffff, sum, offset);
    squares += __shfl_xor_sync(0xffffffff, squares, offset);
  }
  if (threadIdx.x == 0) {
    sums[2 * blockIdx.x] = sum;
    sums[2 * blockIdx.x + 1] = squares;
  }
}

extern "C" __global__ void reference(const float* u, const float* h, const float* skip,
                                     const double* u_sums, const double* h_sums, double* y,
                                     double* magnitude, long long n) {
  const long long t = blockIdx.x * (long long)blockDim.x + threadIdx.x;
  const long long channel = blockIdx.y, row = blockIdx.z * gridDim.y + channel;
  if (t >= n) {
    return;
  }
  const double own = (double)skip[channel] * (double)u[row * n + t];
  double sum = own, block = 0, size = fabs(own);
  for (long long j = 0; j <= t; ++j) {
    const double product = NARROW(product, (double)h[channel * n + j] * (double)u[row * n + t - j]);
    block += product;
    size += fabs(product);
    if (j % 32 == 31 || j == t) { // a block that a kernel adds up first
      sum += NARROW(partial_sum, block);
      block = 0;
    }
  }
  // What the roundings of a transform spread over all places.
  const double spread = sqrt(u_sums[2 * row + 1] * h_sums[2 * channel + 1] / n) +
                        fabs(u_sums[2 * row] * h_sums[2 * channel]) / n;
  y[row * n + t] = sum;
  magnitude[row * n + t] = size + 2 * spread;
}
