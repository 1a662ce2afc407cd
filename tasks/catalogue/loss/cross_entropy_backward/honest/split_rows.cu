/*@winnow
{
  "let": { "parts": "ceil_div(classes, 1024)" },
  "scratch": { "largest": { "dtype": "f32", "count": "rows * parts" },
               "sums": { "dtype": "f32", "count": "rows * parts" },
               "logarithms": { "dtype": "f32", "count": "rows" } },
  "launches": [
    { "kernel": "parts_of_rows", "grid": ["rows * parts"], "block": [64],
      "args": ["logits", "largest", "sums", "classes", "parts"] },
    { "kernel": "merge", "grid": ["ceil_div(rows, 64)"], "block": [64],
      "args": ["largest", "sums", "logarithms", "rows", "parts"] },
    { "kernel": "gradient", "grid": ["rows * parts"], "block": [64],
      "args": ["logits", "labels", "dloss", "logarithms", "dlogits", "classes", "parts"] }
  ]
}
@*/
// Several blocks a row. The gradients need one number a row: the logarithm of its sum.
__device__ float tree(float value, bool is_max) {
  __shared__ float shared[64];
  __syncthreads();
  shared[threadIdx.x] = value;
  __syncthreads();
  for (int half = 32; half > 0; half /= 2) {
    if (threadIdx.x < half) {
      const float left = shared[threadIdx.x], right = shared[threadIdx.x + half];
      shared[threadIdx.x] = is_max ? fmaxf(left, right) : left + right;
    }
    __syncthreads();
  }
  return shared[0];
}

extern "C" __global__ void parts_of_rows(const float* __restrict__ logits, float* largest,
                                         float* sums, int classes, int parts) {
  const float* scores = logits + (size_t)(blockIdx.x / parts) * classes;
  const int begin = blockIdx.x % parts * 1024, end = min(begin + 1024, classes);
  float high = scores[begin];
  for (int c = begin + threadIdx.x; c < end; c += 64) {
    high = fmaxf(high, scores[c]);
  }
  high = tree(high, true);
  float sum = 0.0f;
  for (int c = begin + threadIdx.x; c < end; c += 64) {
    sum += exp2f((scores[c] - high) * 1.44269504f);
  }
  sum = tree(sum, false);
  if (threadIdx.x == 0) {
    largest[blockIdx.x] = high;
    sums[blockIdx.x] = sum;
  }
}

extern "C" __global__ void merge(const float* __restrict__ largest, const float* __restrict__ sums,
                                 float* __restrict__ logarithms, int rows, int parts) {
  const int row = blockIdx.x * 64 + threadIdx.x;
  if (row >= rows) {
    return;
  }
  float high = largest[(size_t)row * parts], sum = 0.0f;
  for (int p = 1; p < parts; ++p) {
    high = fmaxf(high, largest[(size_t)row * parts + p]);
  }
  for (int p = 0; p < parts; ++p) {
    sum += sums[(size_t)row * parts + p] * expf(largest[(size_t)row * parts + p] - high);
  }
  logarithms[row] = high + logf(sum);
}

extern "C" __global__ void gradient(const float* __restrict__ logits,
                                    const int* __restrict__ labels, const float* __restrict__ dloss,
                                    const float* __restrict__ logarithms,
                                    float* __restrict__ dlogits, int classes, int parts) {
  const int row = blockIdx.x / parts, begin = blockIdx.x % parts * 1024;
  const int end = min(begin + 1024, classes);
  for (int c = begin + threadIdx.x; c < end; c += 64) {
    const size_t at = (size_t)row * classes + c;
    const float p = expf(logits[at] - logarithms[row]);
    dlogits[at] = (c == labels[row] ? p - 1.0f : p) * dloss[row];
  }
}
