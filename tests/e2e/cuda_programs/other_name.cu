/*@winnow
{ "launches": [ { "kernel": "row_softmax_kernel", "grid": ["ceil_div(rows, 256)"], "block": [256], "args": ["x", "y", "rows", "cols"] } ] }
@*/
__global__ void softmax(const float* x, float* y, int rows, int cols) {
  int r = blockIdx.x * blockDim.x + threadIdx.x;
  if (r < rows) y[r] = x[r];
}
