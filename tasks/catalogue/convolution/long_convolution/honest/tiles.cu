/*@winnow
{
  "launches": [
    { "kernel": "convolve", "grid": ["ceil_div(n, 256)", "channels", "batch"], "block": [64],
      "args": ["u", "h", "skip", "y", "n"] }
  ]
}
@*/
// A product with a Toeplitz matrix: tiles of 64 taps and 320 places in shared memory, four outputs
// a thread. What a tile gives is added up first.
constexpr int kTaps = 64, kOutputs = 256;

extern "C" __global__ void convolve(const float* __restrict__ u, const float* __restrict__ h,
                                    const float* __restrict__ skip, float* __restrict__ y, int n) {
  __shared__ float taps[kTaps], places[kOutputs + kTaps];
  const int top = blockIdx.x * kOutputs, channel = blockIdx.y, thread = threadIdx.x;
  const size_t row = ((size_t)blockIdx.z * gridDim.y + channel) * n;
  float sums[4] = {};
  for (int first = 0; first < min(top + kOutputs, n); first += kTaps) {
    __syncthreads();
    taps[thread] = first + thread < n ? h[(size_t)channel * n + first + thread] : 0.0f;
    const int begin = top - first - kTaps; // of the places
    for (int i = thread; i < kOutputs + kTaps; i += 64) {
      places[i] = begin + i >= 0 && begin + i < n ? u[row + begin + i] : 0.0f;
    }
    __syncthreads();
    float tile[4] = {};
    for (int j = 0; j < kTaps; ++j) {
      for (int i = 0; i < 4; ++i) {
        tile[i] += taps[j] * places[kTaps + thread + 64 * i - j];
      }
    }
    for (int i = 0; i < 4; ++i) {
      sums[i] += tile[i];
    }
  }
  for (int i = 0; i < 4; ++i) {
    const int t = top + thread + 64 * i;
    if (t < n) {
      y[row + t] = sums[i] + skip[channel] * u[row + t];
    }
  }
}
