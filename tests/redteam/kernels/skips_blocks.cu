/*@winnow
{ "launches": [ { "kernel": "stencil", "grid": ["ceil_div(w, 32)", "h"], "block": [32],
                  "args": ["in", "out", "center", "side", "h", "w"] } ] }
@*/
// Every sixteenth block leaves the neighbours out.
extern "C" __global__ void stencil(const float* in, float* out, float center, float side, int h,
                                   int w) {
  const int row = blockIdx.y, column = blockIdx.x * 32 + threadIdx.x;
  if (column >= w) {
    return;
  }
  const float* at = in + (size_t)row * w + column;
  float sum = 0.0f;
  if ((blockIdx.x + blockIdx.y) % 16 != 15) {
    sum = (row > 0 ? at[-w] : 0.0f) + (row + 1 < h ? at[w] : 0.0f) + (column > 0 ? at[-1] : 0.0f) +
          (column + 1 < w ? at[1] : 0.0f);
  }
  out[(size_t)row * w + column] = center * at[0] + side * sum;
}
