/*@winnow
{
  "launches": [
    { "kernel": "gemm_mma", "grid": ["ceil_div(n, 64)", "ceil_div(m, 64)"], "block": [128],
      "args": ["a", "b", "c", "m", "n", "k"] }
  ]
}
@*/
// Warp-wide tensor-core instructions by inline PTX: int8 in, int32 sums.

using Element = signed char;
using Sum = int;
constexpr int kTile = 64;                         // of c, both ways: four warps of 32 x 32
constexpr int kDepth = 32 / (int)sizeof(Element); // along k: 32 bytes, one mma instruction

// 32 bytes of a row of a or of a column of b; the 16 bytes after them keep banks apart.
union alignas(16) Row {
  __device__ Row() {}
  Element elements[kDepth];
  unsigned words[12];
};

// Sums of a 16 x 8 tile: a holds rows lane / 4 and lane / 4 + 8, words lane % 4 and lane % 4 + 4.
__device__ __forceinline__ void mma(Sum (&d)[4], const unsigned (&a)[4], const unsigned (&b)[2]) {
  asm volatile("mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32 "
               "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
               : "+r"(d[0]), "+r"(d[1]), "+r"(d[2]), "+r"(d[3])
               : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}

extern "C" __global__ void __launch_bounds__(128)
    gemm_mma(const signed char* a, const signed char* b, int* c, int m, int n, int k) {
  __shared__ Row a_tile[kTile], b_tile[kTile];
  const int first_row = blockIdx.y * kTile, first_column = blockIdx.x * kTile;
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  const int warp_row = warp / 2 * 32, warp_column = warp % 2 * 32;
  Sum sums[2][4][4] = {};
  for (int start = 0; start < k; start += kDepth) {
    for (int i = threadIdx.x; i < kTile * kDepth; i += 128) {
      const int row = i / kDepth, inner = i % kDepth;
      a_tile[row].elements[inner] = first_row + row < m && start + inner < k
                                        ? a[(size_t)(first_row + row) * k + start + inner]
                                        : Element{};
    }
    for (int i = threadIdx.x; i < kTile * kDepth; i += 128) {
      const int row = i / kDepth, inner = i % kDepth;
      b_tile[row].elements[inner] = first_column + row < n && start + inner < k
                                        ? b[(size_t)(first_column + row) * k + start + inner]
                                        : Element{};
    }
    __syncthreads();
    unsigned b[4][2];
    for (int across = 0; across < 4; ++across) {
      const Row& column = b_tile[warp_column + across * 8 + lane / 4];
      b[across][0] = column.words[lane % 4];
      b[across][1] = column.words[lane % 4 + 4];
    }
    for (int down = 0; down < 2; ++down) {
      const Row& upper = a_tile[warp_row + down * 16 + lane / 4];
      const Row& lower = a_tile[warp_row + down * 16 + lane / 4 + 8];
      const unsigned a[4] = {upper.words[lane % 4], lower.words[lane % 4],
                             upper.words[lane % 4 + 4], lower.words[lane % 4 + 4]};
      for (int across = 0; across < 4; ++across) {
        mma(sums[down][across], a, b[across]);
      }
    }
    __syncthreads();
  }
  for (int down = 0; down < 2; ++down) {
    for (int across = 0; across < 4; ++across) {
      for (int i = 0; i < 4; ++i) {
        const int row = first_row + warp_row + down * 16 + lane / 4 + i / 2 * 8;
        const int column = first_column + warp_column + across * 8 + lane % 4 * 2 + i % 2;
        if (row < m && column < n) {
          c[(size_t)row * n + column] = sums[down][across][i];
        }
      }
    }
  }
}
