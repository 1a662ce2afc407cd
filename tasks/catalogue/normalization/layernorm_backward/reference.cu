/*@winnow
{
  "scratch": { "means": { "dtype": "f64", "count": "rows" },
               "scales": { "dtype": "f64", "count": "rows" },
               "sizes": { "dtype": "f64", "count": "rows" } },
  "launches": [
    { "kernel": "dx_reference", "grid": ["ceil_div(rows, 32)"], "block": [32],
      "args": ["x", "gamma", "dy", "dx", "dx_magnitude", "means", "scales", "sizes", "eps", "rows",
               "cols"] },
    { "kernel": "columns_reference", "grid": ["ceil_div(cols, 32)"], "block": [32],
      "args": ["x", "dy", "means", "scales", "sizes", "dgamma", "dgamma_magnitude", "dbeta",
               "dbeta_magnitude", "rows", "cols"] }
  ]
}
@*/
extern "C" __global__ void dx_reference(const float* x, const float* gamma, const float* dy,
                                        double* dx, double* magnitude, double* means,
                                        double* scales, double* sizes, float eps, long long rows,
                                        long long cols) {
  const long long row = blockIdx.x * (long long)blockDim.x + threadIdx.x;
  if (row >= rows) {
    return;
  }
  const float* values = x + row * cols;
  const float* slopes = dy + row * cols;
  double sum = 0, size = 0;
  for (long long c = 0; c < cols; ++c) {
    sum += values[c];
    size += fabs((double)values[c]);
  }
  const double mean = NARROW(mean, sum / cols);
  size /= cols;
  double squares = 0, block = 0;
  for (long long c = 0; c < cols; ++c) {
    const double difference = NARROW(difference, values[c] - mean);
    block += difference * difference;
    if (c % 128 == 127 || c + 1 == cols) { // a block that a kernel adds up first
      squares += NARROW(partial_sum, block);
      block = 0;
    }
  }
  const double scale = NARROW(scale, 1 / sqrt(squares / cols + eps));
  means[row] = mean;
  scales[row] = scale;
  sizes[row] = size;
  double total = 0, total_size = 0, projection = 0, projection_size = 0;
  for (long long c = 0; c < cols; ++c) {
    const double slope = NARROW(product, (double)slopes[c] * gamma[c]);
    const double normalised = NARROW(normalised, (values[c] - mean) * scale);
    total += slope;
    total_size += fabs(slope);
    projection += slope * normalised;
    projection_size += fabs(slope) * (fabs(normalised) + (fabs((double)values[c]) + size) * scale);
  }
  for (long long c = 0; c < cols; ++c) {
    const long long at = row * cols + c;
    const double slope = NARROW(product, (double)slopes[c] * gamma[c]);
    const double normalised = NARROW(normalised, (values[c] - mean) * scale);
    dx[at] = scale * (slope - total / cols - normalised * projection / cols);
    // The rounding of the mean moves one factor of the last term or the other.
    const double moved = (fabs((double)values[c]) + size) * scale * fabs(projection);
    magnitude[at] = scale * (fabs(slope) + total_size / cols +
                             (fabs(normalised) * projection_size + moved) / cols);
  }
}

extern "C" __global__ void columns_reference(const float* x, const float* dy, const double* means,
                                             const double* scales, const double* sizes,
                                             double* dgamma, double* dgamma_magnitude,
                                             double* dbeta, double* dbeta_magnitude, long long rows,
                                             long long cols) {
  const long long c = blockIdx.x * (long long)blockDim.x + threadIdx.x;
  if (c >= cols) {
    return;
  }
  double weighted = 0, weighted_size = 0, sum = 0, size = 0;
  for (long long row = 0; row < rows; ++row) {
    const double value = x[row * cols + c], slope = dy[row * cols + c];
    weighted += NARROW(term, slope * (value - means[row]) * scales[row]);
    weighted_size += fabs(slope) * (fabs(value) + sizes[row]) * scales[row];
    sum += slope;
    size += fabs(slope);
  }
  dgamma[c] = weighted;
  dgamma_magnitude[c] = weighted_size;
  dbeta[c] = sum;
  dbeta_magnitude[c] = size;
}
