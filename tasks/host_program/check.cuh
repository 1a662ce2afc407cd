// The functions that draw inputs and compare outputs.
namespace plan {

// ---- tensors and shapes
enum class Role { Input, Output, InOut };
struct Tensor {
  const char* name;
  DType dtype;
  Number element_bytes;
  Role role;
  bool is_static; ///< the same over many runs
  int reference;  ///< the index of the reference's tensor
  int magnitude;  ///< the index of the magnitude that its error limit scales with; -1: exact
};
/// An element may differ by multiple * unit * magnitude + rounding * |expected| + absolute. The
/// root mean square of (difference - the last two) / (unit * magnitude) is at most norm_multiple.
struct Limits {
  double multiple, norm_multiple, unit, rounding, absolute;
  bool nan_allowed, exact;
};
struct TensorAtShape {
  Number count;
  winnow::tasks::GeneratorSpec generator; ///< of inputs
  unsigned long long name_hash;
  Limits limits; ///< of outputs
};
template <class Sizes> struct Shape {
  const char* text;
  Sizes sizes;
  std::vector<TensorAtShape> tensors;
};

// ---- inputs
__global__ void generate_inputs(winnow::tasks::DrawnGenerator spec, DType dtype,
                                winnow::tasks::core::RandomStream stream, char* to,
                                Number element_bytes, Number count) {
  for (Number i = blockIdx.x * Number{blockDim.x} + threadIdx.x; i < count;
       i += Number{gridDim.x} * blockDim.x) {
    const unsigned long long bits = winnow::tasks::core::element_bits(
        dtype, winnow::tasks::core::generate(spec, stream, static_cast<unsigned long long>(i)));
    for (Number b = 0; b < element_bytes; ++b) {
      to[i * element_bytes + b] = static_cast<char>(bits >> (8 * b));
    }
  }
}
inline void generate(const Buffer& buffer, const winnow::tasks::GeneratorSpec& spec,
                     unsigned long long seed, unsigned long long name_hash) {
  generate_inputs<<<2048, 256>>>(winnow::tasks::core::drawn(spec, seed, name_hash), buffer.dtype,
                                 {seed, name_hash}, buffer.data, buffer.element_bytes,
                                 buffer.count);
  PLAN_CHECK(cudaGetLastError());
}
template <class Sizes>
void draw(const Shape<Sizes>& shape, const Tensor* tensors, const Buffer* buffers,
          unsigned long long number, bool also_static) {
  const unsigned long long seed = number + (number << 32U); // the upper half draws ranges
  for (std::size_t i = 0; i < shape.tensors.size(); ++i) {
    if (tensors[i].role != Role::Output && (also_static || !tensors[i].is_static)) {
      generate(buffers[i], shape.tensors[i].generator, seed, shape.tensors[i].name_hash);
    }
  }
}

// ---- the comparison with the reference
struct Differences {
  unsigned long long wrong;
  unsigned long long first; ///< index of a wrong element, the smallest
  unsigned long long counted;
  double squares;
};
__device__ inline double element(const Buffer& buffer, Number i) {
  unsigned long long bits = 0;
  for (Number b = 0; b < buffer.element_bytes; ++b) {
    bits |= static_cast<unsigned long long>(
                static_cast<unsigned char>(buffer.data[i * buffer.element_bytes + b]))
            << (8 * b);
  }
  return winnow::tasks::core::element_value(buffer.dtype, bits);
}
__global__ void compare_elements(Buffer got, Buffer expected, Buffer magnitude, Limits limits,
                                 Differences* out) {
  double squares = 0;
  unsigned long long counted = 0;
  for (Number i = blockIdx.x * Number{blockDim.x} + threadIdx.x; i < got.count;
       i += Number{gridDim.x} * blockDim.x) {
    const double g = element(got, i), e = element(expected, i);
    bool good = g == e || (g != g && e != e && (limits.nan_allowed || limits.exact));
    if (!good && !limits.exact && g == g && e == e && ::fabs(g) < 1e308 * 10 &&
        ::fabs(e) < 1e308 * 10) {
      const double fixed = limits.rounding * ::fabs(e) + limits.absolute;
      const double scale = limits.unit * ::fabs(element(magnitude, i));
      const double rest = ::fmax(::fabs(g - e) - fixed, 0.0);
      good = rest <= limits.multiple * scale;
      const double units = scale > 0 ? rest / scale : 0;
      squares += units * units;
    }
    ++counted;
    if (!good) {
      atomicAdd(&out->wrong, 1ULL);
      atomicMin(&out->first, static_cast<unsigned long long>(i));
    }
  }
  atomicAdd(&out->squares, squares);
  atomicAdd(&out->counted, counted);
}
struct Comparison {
  bool good;
  std::string text;
};
inline Comparison compare(const Buffer& got, const Buffer& expected, const Buffer& magnitude,
                          const Limits& limits) {
  Differences* device = nullptr;
  PLAN_CHECK(cudaMalloc(reinterpret_cast<void**>(&device), sizeof(Differences)));
  Differences found{0, ~0ULL, 0, 0};
  PLAN_CHECK(cudaMemcpy(device, &found, sizeof(found), cudaMemcpyHostToDevice));
  compare_elements<<<1024, 256>>>(got, expected, magnitude, limits, device);
  PLAN_CHECK(cudaGetLastError());
  PLAN_CHECK(cudaMemcpy(&found, device, sizeof(found), cudaMemcpyDeviceToHost));
  PLAN_CHECK(cudaFree(device));
  const double norm =
      found.counted == 0 ? 0 : std::sqrt(found.squares / static_cast<double>(found.counted));
  const bool good = found.wrong == 0 && (limits.exact || norm <= limits.norm_multiple);
  char text[256];
  if (found.wrong != 0) {
    std::snprintf(text, sizeof(text),
                  "%s: WRONG: %llu of %lld elements differ, the first is element %llu", got.name,
                  found.wrong, got.count, found.first);
  } else {
    std::snprintf(text, sizeof(text), "%s: %s, error %.3g of a limit of %.3g (root mean square)",
                  got.name, good ? "correct" : "WRONG", norm, limits.norm_multiple);
  }
  return {good, text};
}

__global__ void convert_elements(Buffer from, Buffer to) {
  for (Number i = blockIdx.x * Number{blockDim.x} + threadIdx.x; i < from.count;
       i += Number{gridDim.x} * blockDim.x) {
    const unsigned long long bits = winnow::tasks::core::element_bits(to.dtype, element(from, i));
    for (Number b = 0; b < to.element_bytes; ++b) {
      to.data[i * to.element_bytes + b] = static_cast<char>(bits >> (8 * b));
    }
  }
}

/// The reference's answers: its buffers are the inputs themselves, and for the outputs those of
/// `expected`, which have memory. `begins` has the tensors before a run.
template <class Reference, class Sizes>
void run_reference(const Device& device, const Sizes& sizes, const Tensor* reference_tensors,
                   const std::vector<Buffer>& begins, std::vector<Buffer>& expected) {
  const std::size_t tensors = expected.size();
  for (std::size_t i = 0; i < tensors; ++i) {
    if (reference_tensors[i].role == Role::InOut) {
      convert_elements<<<1024, 256>>>(
          begins[static_cast<std::size_t>(reference_tensors[i].reference)], expected[i]);
      PLAN_CHECK(cudaGetLastError());
    }
  }
  Reference::scratch(sizes, device, expected);
  for (std::size_t i = tensors; i < expected.size(); ++i) {
    allocate(expected[i]);
  }
  Reference::fill_once(nullptr, expected.data());
  Reference::prepare(sizes, device, nullptr, expected.data());
  Reference::run(sizes, device, nullptr, expected.data());
  PLAN_CHECK(cudaDeviceSynchronize());
  while (expected.size() > tensors) {
    PLAN_CHECK(cudaFree(expected.back().data));
    expected.pop_back();
  }
}

} // namespace plan
