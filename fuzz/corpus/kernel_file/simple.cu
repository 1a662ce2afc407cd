/*@winnow
{ "params": { "BLOCK": [128, 256] },
  "launches": [ { "kernel": "row_softmax<{BLOCK}>", "grid": ["rows"], "block": ["BLOCK"],
                  "args": ["x", "y", "rows", "cols", "eps"] } ] }
@*/
#include <torch/extension.h>
template <int BLOCK>
__global__ void row_softmax(const float* x, float* y, int rows, int cols, float eps) {}
