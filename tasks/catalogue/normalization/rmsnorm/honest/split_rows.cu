/*@winnow
{
  "let": { "parts": "ceil_div(cols, 512)" },
  "scratch": { "squares": { "dtype": "f32", "count": "rows" } },
  "launches": [
    { "fill": "squares", "value": 0 },
    { "kernel": "add_squares", "grid": ["parts", "rows"], "block": [64],
      "args": ["x", "squares", "cols"], "when": "rows <= 65535" },
    { "kernel": "add_squares_of_row", "grid": ["rows"], "block": [64],
      "args": ["x", "squares", "cols"], "when": "rows > 65535" },
    { "kernel": "scale", "grid": ["ceil_div(rows * cols, 256)"], "block": [256],
      "args": ["x", "weight", "squares", "y", "eps", "rows * cols", "cols"] }
  ]
}
@*/
// Several blocks a row add to one sum by atomics; a second kernel scales element by element.
#include <cuda_bf16.h>

__device__ void add_range(const __nv_bfloat16* x, float* sum, int begin, int end) {
  float squares = 0.0f;
  for (int c = begin + threadIdx.x; c < end; c += blockDim.x) {
    const float value = __bfloat162float(x[c]);
    squares += value * value;
  }
  for (int offset = 16; offset > 0; offset /= 2) {
    squares += __shfl_down_sync(0xffffffff, squares, offset);
  }
  if (threadIdx.x % 32 == 0) {
    atomicAdd(sum, squares);
  }
}

extern "C" __global__ void add_squares(const __nv_bfloat16* __restrict__ x, float* squares,
                                       int cols) {
  const int begin = blockIdx.x * 512;
  add_range(x + (size_t)blockIdx.y * cols, squares + blockIdx.y, begin, min(begin + 512, cols));
}

extern "C" __global__ void add_squares_of_row(const __nv_bfloat16* __restrict__ x, float* squares,
                                              int cols) {
  add_range(x + (size_t)blockIdx.x * cols, squares + blockIdx.x, 0, cols);
}

extern "C" __global__ void scale(const __nv_bfloat16* __restrict__ x,
                                 const __nv_bfloat16* __restrict__ weight,
                                 const float* __restrict__ squares, __nv_bfloat16* __restrict__ y,
                                 float eps, long long count, int cols) {
  const long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x;
  if (i < count) {
    const float root = sqrtf(squares[i / cols] / cols + eps);
    y[i] = __float2bfloat16(__bfloat162float(x[i]) / root * __bfloat162float(weight[i % cols]));
  }
}
