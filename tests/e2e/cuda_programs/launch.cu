__global__ void softmax(const float* x, float* y, int rows, int cols) {
  int r = blockIdx.x * blockDim.x + threadIdx.x;
  if (r >= rows) return;
  y[r] = x[r];
}
void row_softmax(const float* x, float* y, int rows, int cols) {
  softmax<<<(rows + 255) / 256, 256>>>(x, y, rows, cols);
}
