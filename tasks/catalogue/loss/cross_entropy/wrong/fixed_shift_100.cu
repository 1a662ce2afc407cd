/*@winnow
{
  "launches": [
    { "kernel": "cross_entropy", "grid": ["rows"], "block": [128],
      "args": ["logits", "labels", "loss", "classes"] }
  ]
}
@*/
// Wrong: takes 100 for the maximum of every row and reads the row once. Logits of 0 vanish, and
// logits of 200 give infinity.
__device__ float block_sum(float value) {
  __shared__ float shared[4];
  for (int offset = 16; offset > 0; offset /= 2) {
    value += __shfl_xor_sync(0xffffffff, value, offset);
  }
  if (threadIdx.x % 32 == 0) {
    shared[threadIdx.x / 32] = value;
  }
  __syncthreads();
  return shared[0] + shared[1] + shared[2] + shared[3];
}

extern "C" __global__ void cross_entropy(const float* __restrict__ logits,
                                         const int* __restrict__ labels, float* __restrict__ loss,
                                         int classes) {
  const float* scores = logits + (size_t)blockIdx.x * classes;
  constexpr float largest = 100.0f;
  float sum = 0.0f;
  for (int c = threadIdx.x; c < classes; c += 128) {
    sum += expf(scores[c] - largest);
  }
  sum = block_sum(sum);
  if (threadIdx.x == 0) {
    loss[blockIdx.x] = logf(sum) + (largest - scores[labels[blockIdx.x]]);
  }
}
