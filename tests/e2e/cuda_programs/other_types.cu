/*@winnow
{ "launches": [ { "kernel": "softmax", "grid": ["ceil_div(rows, 256)"], "block": [256], "args": ["x", "y", "rows", "cols"] } ] }
@*/
__global__ void softmax(const double* x, double* y, int rows, int cols) {
  int r = blockIdx.x * blockDim.x + threadIdx.x;
  if (r < rows) y[r] = x[r];
}
