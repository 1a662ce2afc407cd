/*@winnow
{ "launches": [ { "kernel": "gather", "grid": ["tokens"], "block": [128],
                  "args": ["table", "ids", "y", "dim"] } ] }
@*/
// One block a token; elements move as 16-bit integers.
extern "C" __global__ void gather(const unsigned short* __restrict__ table,
                                  const int* __restrict__ ids, unsigned short* __restrict__ y,
                                  int dim) {
  const unsigned short* row = table + (size_t)ids[blockIdx.x] * dim;
  for (int c = threadIdx.x; c < dim; c += blockDim.x) {
    y[(size_t)blockIdx.x * dim + c] = row[c];
  }
}
