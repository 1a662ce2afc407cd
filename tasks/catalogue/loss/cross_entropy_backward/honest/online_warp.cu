/*@winnow
{ "launches": [ { "kernel": "gradient", "grid": ["ceil_div(rows, 4)"], "block": [32, 4],
                  "args": ["logits", "labels", "dloss", "dlogits", "rows", "classes"] } ] }
@*/
// One warp a row. Each lane keeps a maximum and a sum in one pass, and lanes merge theirs.
extern "C" __global__ void gradient(const float* __restrict__ logits,
                                    const int* __restrict__ labels, const float* __restrict__ dloss,
                                    float* __restrict__ dlogits, int rows, int classes) {
  const int row = blockIdx.x * 4 + threadIdx.y;
  if (row >= rows) {
    return;
  }
  const float* scores = logits + (size_t)row * classes;
  float largest = -1e30f, sum = 0.0f;
  for (int c = threadIdx.x; c < classes; c += 32) {
    const float high = fmaxf(largest, scores[c]);
    sum = sum * expf(largest - high) + expf(scores[c] - high);
    largest = high;
  }
  for (int offset = 16; offset > 0; offset /= 2) {
    const float other = __shfl_xor_sync(0xffffffff, largest, offset);
    const float other_sum = __shfl_xor_sync(0xffffffff, sum, offset);
    const float high = fmaxf(largest, other);
    sum = sum * expf(largest - high) + other_sum * expf(other - high);
    largest = high;
  }
  const int label = labels[row];
  for (int c = threadIdx.x; c < classes; c += 32) {
    const float p = __fdividef(expf(scores[c] - largest), sum);
    dlogits[(size_t)row * classes + c] = dloss[row] * (c == label ? p - 1.0f : p);
  }
}
