/*@winnow
{
  "let": { "size": "next_pow2(2 * n)", "steps": "log2(size)", "rows": "batch * channels" },
  "scratch": { "h_even": { "dtype": "f32", "count": "2 * channels * size" },
               "h_odd": { "dtype": "f32", "count": "2 * channels * size" },
               "u_even": { "dtype": "f32", "count": "2 * rows * size" },
               "u_odd": { "dtype": "f32", "count": "2 * rows * size" } },
  "launches": [
    { "kernel": "pad", "grid": ["ceil_div(channels * size, 64)"], "block": [64],
      "args": ["h", "h_even", "channels * size", "n", "size"] },
    { "kernel": "pad", "grid": ["ceil_div(rows * size, 64)"], "block": [64],
      "args": ["u", "u_even", "rows * size", "n", "size"] },
    { "repeat": "steps", "as": "t",
      "do": [
        { "kernel": "halve", "grid": ["ceil_div(channels * size, 128)"], "block": [64],
          "args": [{ "pick": ["h_even", "h_odd"], "by": "t % 2" },
                   { "pick": ["h_odd", "h_even"], "by": "t % 2" }, "channels * size / 2", "size",
                   "1 << t", -1.0] },
        { "kernel": "halve", "grid": ["ceil_div(rows * size, 128)"], "block": [64],
          "args": [{ "pick": ["u_even", "u_odd"], "by": "t % 2" },
                   { "pick": ["u_odd", "u_even"], "by": "t % 2" }, "rows * size / 2", "size",
                   "1 << t", -1.0] } ] },
    { "kernel": "multiply", "grid": ["ceil_div(rows * size, 64)"], "block": [64],
      "args": [{ "pick": ["u_even", "u_odd"], "by": "steps % 2" },
               { "pick": ["h_even", "h_odd"], "by": "steps % 2" }, "u_even", "rows * size",
               "channels * size"] },
    { "repeat": "steps", "as": "t",
      "do": [
        { "kernel": "halve", "grid": ["ceil_div(rows * size, 128)"], "block": [64],
          "args": [{ "pick": ["u_even", "u_odd"], "by": "t % 2" },
                   { "pick": ["u_odd", "u_even"], "by": "t % 2" }, "rows * size / 2", "size",
                   "1 << t", 1.0] } ] },
    { "kernel": "finish", "grid": ["ceil_div(rows * n, 64)"], "block": [64],
      "args": [{ "pick": ["u_even", "u_odd"], "by": "steps % 2" }, "u", "skip", "y", "rows * n",
               "channels", "n", "size"] }
  ]
}
@*/
// One transform over the whole sequence and the whole filter: a launch for each factor 2 of its
// length, from one buffer in memory to the other.
extern "C" __global__ void pad(const float* __restrict__ from, float* __restrict__ to_parts,
                               long long count, int n, int size) {
  const long long i = blockIdx.x * 64LL + threadIdx.x;
  if (i < count) {
    const long long row = i / size, t = i % size;
    reinterpret_cast<float2*>(to_parts)[i] = make_float2(t < n ? from[row * n + t] : 0.0f, 0.0f);
  }
}

extern "C" __global__ void halve(const float* __restrict__ from_parts, float* __restrict__ to_parts,
                                 long long pairs, int size, int done, float sign) {
  const float2* from = reinterpret_cast<const float2*>(from_parts);
  float2* to = reinterpret_cast<float2*>(to_parts);
  const long long i = blockIdx.x * 64LL + threadIdx.x;
  if (i >= pairs) {
    return;
  }
  const long long row = i / (size / 2) * size;
  const int at = i % (size / 2), inner = at % done;
  const float2 a = from[row + at], b = from[row + at + size / 2];
  float s, c;
  sincosf(3.14159265358979324f * ((float)inner / done), &s, &c);
  s *= sign;
  const float2 turned = make_float2(b.x * c - b.y * s, b.x * s + b.y * c);
  float2* out = to + row + at / done * 2 * done + inner;
  out[0] = make_float2(a.x + turned.x, a.y + turned.y);
  out[done] = make_float2(a.x - turned.x, a.y - turned.y);
}

extern "C" __global__ void multiply(const float* u_parts, const float* __restrict__ h_parts,
                                    float* to_parts, long long count, long long of_filters) {
  const long long i = blockIdx.x * 64LL + threadIdx.x;
  if (i < count) {
    const float2 a = reinterpret_cast<const float2*>(u_parts)[i];
    const float2 b = reinterpret_cast<const float2*>(h_parts)[i % of_filters];
    reinterpret_cast<float2*>(to_parts)[i] =
        make_float2(a.x * b.x - a.y * b.y, a.x * b.y + a.y * b.x);
  }
}

extern "C" __global__ void finish(const float* __restrict__ product, const float* __restrict__ u,
                                  const float* __restrict__ skip, float* __restrict__ y,
                                  long long count, int channels, int n, int size) {
  const long long i = blockIdx.x * 64LL + threadIdx.x;
  if (i < count) {
    const long long row = i / n;
    y[i] = product[2 * (row * size + i % n)] / size + skip[row % channels] * u[i];
  }
}
