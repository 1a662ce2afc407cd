/*@winnow
{
  "scratch": { "partial": { "dtype": "f32", "count": "1024" } },
  "launches": [
    { "kernel": "partial_sums", "grid": [8], "block": [128], "args": ["x", "partial", "n"] },
    { "kernel": "last_sum", "grid": [1], "block": [1], "args": ["partial", "out"] }
  ]
}
@*/
// 1,024 threads, each over its own stretch, what each addition loses carried along; then one
// thread over their sums.
struct Kahan {
  float sum = 0.0f, lost = 0.0f;
  __device__ void add(float value) {
    const float term = value - lost;
    const float next = sum + term;
    lost = (next - sum) - term;
    sum = next;
  }
};

extern "C" __global__ void partial_sums(const float* __restrict__ x, float* partial, int n) {
  const int thread = blockIdx.x * blockDim.x + threadIdx.x;
  const long long first = (long long)n * thread / 1024, end = (long long)n * (thread + 1) / 1024;
  Kahan total;
  for (long long i = first; i < end; ++i) {
    total.add(x[i]);
  }
  partial[thread] = total.sum;
}

extern "C" __global__ void last_sum(const float* __restrict__ partial, float* out) {
  Kahan total;
  for (int i = 0; i < 1024; ++i) {
    total.add(partial[i]);
  }
  out[0] = total.sum;
}
