// The part of a host program that is the same for every kernel. Names of the launch plan stand for
// themselves; the functions of its expressions are in the namespace `plan`.
namespace plan {

using Number = long long;

[[noreturn]] inline void fail(const char* what, const char* why) {
  std::fprintf(stderr, "error: %s: %s\n", what, why);
  std::exit(1);
}
inline void check(cudaError_t result, const char* call) {
  if (result != cudaSuccess) {
    fail(call, cudaGetErrorString(result));
  }
}
#define PLAN_CHECK(call) ::plan::check((call), #call)

// ---- the functions of expressions. Integers have 64 bits, and `/` rounds down.
constexpr Number floor_div(Number a, Number b) {
  return a / b - (a % b < 0 ? 1 : 0);
}
constexpr Number remainder(Number a, Number b) {
  return a - floor_div(a, b) * b;
}
constexpr Number ceil_div(Number a, Number b) {
  return a / b + (a % b > 0 ? 1 : 0);
}
constexpr Number align_up(Number a, Number b) {
  return ceil_div(a, b) * b;
}
constexpr Number shift_left(Number a, Number b) {
  return a * (Number{1} << b);
}
constexpr Number shift_right(Number a, Number b) {
  return a >> b;
}
constexpr Number log2(Number a) {
  return a <= 1 ? 0 : 1 + log2(a / 2);
}
constexpr Number log2_ceil(Number a) {
  return a <= 1 ? 0 : 1 + log2(a - 1);
}
constexpr Number next_pow2(Number a) {
  return Number{1} << log2_ceil(a);
}
constexpr Number abs(Number a) {
  return a < 0 ? -a : a;
}
template <class... More> constexpr Number min(Number a, More... more) {
  ((a = Number{more} < a ? Number{more} : a), ...);
  return a;
}
template <class... More> constexpr Number max(Number a, More... more) {
  ((a = Number{more} > a ? Number{more} : a), ...);
  return a;
}
template <class... More> double real_min(double a, More... more) {
  ((a = double(more) < a ? double(more) : a), ...);
  return a;
}
template <class... More> double real_max(double a, More... more) {
  ((a = double(more) > a ? double(more) : a), ...);
  return a;
}
inline double rsqrt(double a) {
  return 1 / std::sqrt(a);
}

// ---- buffers
using winnow::tasks::DType;

struct Buffer {
  const char* name = "";
  DType dtype = DType::F32;
  Number element_bytes = 4;
  Number count = 0;
  char* data = nullptr;

  void* at(Number element) const { return data + element * element_bytes; }
};
/// A buffer, or a part of one from an element on; no buffer is a null pointer.
struct Place {
  const Buffer* buffer = nullptr;
  Number offset = 0;

  void* pointer() const { return buffer == nullptr ? nullptr : buffer->at(offset); }
};
inline Place pick(Number index, std::initializer_list<const Buffer*> buffers, Number offset) {
  return {buffers.begin()[index], offset};
}

inline void allocate(Buffer& buffer, Number count) {
  buffer.count = count;
  PLAN_CHECK(cudaMalloc(reinterpret_cast<void**>(&buffer.data),
                        static_cast<std::size_t>(count > 0 ? count * buffer.element_bytes : 1)));
}

template <class Bits> __global__ void fill_elements(Bits* to, Bits bits, Number count) {
  for (Number i = blockIdx.x * Number{blockDim.x} + threadIdx.x; i < count;
       i += Number{gridDim.x} * blockDim.x) {
    to[i] = bits;
  }
}
template <class Bits>
void fill_as(cudaStream_t stream, void* to, unsigned long long bits, Number count) {
  fill_elements<<<1024, 256, 0, stream>>>(static_cast<Bits*>(to), static_cast<Bits>(bits), count);
  PLAN_CHECK(cudaGetLastError());
}
/// `count` below 0: to the end of the buffer.
inline void fill(cudaStream_t stream, const Place& to, double value, Number count) {
  const Buffer& buffer = *to.buffer;
  const unsigned long long bits = winnow::tasks::core::element_bits(buffer.dtype, value);
  count = count < 0 ? buffer.count - to.offset : count;
  if (count == 0) {
    return;
  }
  if (bits == 0) {
    PLAN_CHECK(cudaMemsetAsync(to.pointer(), 0,
                               static_cast<std::size_t>(count * buffer.element_bytes), stream));
  } else if (buffer.element_bytes == 8) {
    fill_as<unsigned long long>(stream, to.pointer(), bits, count);
  } else if (buffer.element_bytes == 4) {
    fill_as<unsigned>(stream, to.pointer(), bits, count);
  } else if (buffer.element_bytes == 2) {
    fill_as<unsigned short>(stream, to.pointer(), bits, count);
  } else {
    fill_as<unsigned char>(stream, to.pointer(), bits, count);
  }
}
/// All sizes in elements. `count` below 0: the whole buffer. A stride below 0: `count`.
inline void copy(cudaStream_t stream, const Place& from, const Place& to, Number count, Number rows,
                 Number from_stride, Number to_stride) {
  const Number bytes = from.buffer->element_bytes;
  count = count < 0 ? from.buffer->count - from.offset : count;
  if (count == 0 || rows == 0) {
    return;
  }
  const auto size = [bytes](Number elements) { return static_cast<std::size_t>(elements * bytes); };
  PLAN_CHECK(cudaMemcpy2DAsync(to.pointer(), size(to_stride < 0 ? count : to_stride),
                               from.pointer(), size(from_stride < 0 ? count : from_stride),
                               size(count), static_cast<std::size_t>(rows),
                               cudaMemcpyDeviceToDevice, stream));
}

// ---- the device
struct Device {
  Number sm_count, warp_size, max_threads_per_block, max_shared_bytes, max_static_shared_bytes;
  Number max_grid_x, max_grid_y, max_grid_z, max_cluster_blocks, max_threads_per_sm;
  Number max_blocks_per_sm, registers_per_sm, shared_bytes_per_sm, l2_bytes;
  Number has_cooperative, has_tensor_maps;
  char name[256];
};
inline Device this_device() {
  cudaDeviceProp found{};
  PLAN_CHECK(cudaGetDeviceProperties(&found, 0));
  Device device{};
  device.sm_count = found.multiProcessorCount;
  device.warp_size = found.warpSize;
  device.max_threads_per_block = found.maxThreadsPerBlock;
  device.max_shared_bytes = static_cast<Number>(found.sharedMemPerBlockOptin);
  device.max_static_shared_bytes = 48 * 1024;
  device.max_grid_x = found.maxGridSize[0];
  device.max_grid_y = found.maxGridSize[1];
  device.max_grid_z = found.maxGridSize[2];
  device.max_cluster_blocks = found.major >= 9 ? 8 : 0;
  device.max_threads_per_sm = found.maxThreadsPerMultiProcessor;
  device.max_blocks_per_sm = found.maxBlocksPerMultiProcessor;
  device.registers_per_sm = found.regsPerMultiprocessor;
  device.shared_bytes_per_sm = static_cast<Number>(found.sharedMemPerMultiprocessor);
  device.l2_bytes = found.l2CacheSize;
  device.has_cooperative = found.cooperativeLaunch;
  device.has_tensor_maps = found.major >= 9 ? 1 : 0;
  std::snprintf(device.name, sizeof(device.name), "%s", found.name);
  return device;
}

// ---- launches
/// Converts an argument of the plan to the type of the kernel's parameter.
template <class To, class From> To converted(const From& value) {
  if constexpr (std::is_same_v<From, Place>) {
    if constexpr (std::is_pointer_v<To>) {
      return static_cast<To>(value.pointer());
    } else {
      static_assert(std::is_pointer_v<To>, "the plan passes a buffer to a parameter that is no pointer");
    }
  } else if constexpr (std::is_same_v<From, To> || std::is_arithmetic_v<To>) {
    return static_cast<To>(value);
  } else {
    return To(static_cast<double>(value)); // a half, a bfloat16, an 8-bit float
  }
}

struct Size3 {
  Number x = 1, y = 1, z = 1;
  dim3 dim() const {
    return dim3(static_cast<unsigned>(x), static_cast<unsigned>(y), static_cast<unsigned>(z));
  }
};

template <class Kernel> void allow_shared(Kernel* kernel, Number bytes) {
  if (bytes > 48 * 1024) {
    PLAN_CHECK(cudaFuncSetAttribute(reinterpret_cast<const void*>(kernel),
                                    cudaFuncAttributeMaxDynamicSharedMemorySize,
                                    static_cast<int>(bytes)));
  }
}

template <class Kernel>
Number resident_blocks(const Device& device, Kernel* kernel, Size3 block, Number shared_bytes) {
  allow_shared(kernel, shared_bytes);
  int blocks = 0;
  PLAN_CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(
      &blocks, reinterpret_cast<const void*>(kernel), static_cast<int>(block.x * block.y * block.z),
      static_cast<std::size_t>(shared_bytes)));
  return device.sm_count * blocks;
}

template <class... Parameters, class... Arguments>
void launch(cudaStream_t stream, void (*kernel)(Parameters...), Size3 grid, Size3 block,
            Number shared_bytes, Size3 cluster, bool cooperative, const Arguments&... arguments) {
  static_assert(sizeof...(Parameters) == sizeof...(Arguments),
                "the plan has one argument for each parameter of the kernel");
  allow_shared(kernel, shared_bytes);
  cudaLaunchConfig_t config{};
  config.gridDim = grid.dim();
  config.blockDim = block.dim();
  config.dynamicSmemBytes = static_cast<std::size_t>(shared_bytes);
  config.stream = stream;
  cudaLaunchAttribute attributes[2] = {};
  if (cluster.x * cluster.y * cluster.z > 1) {
    cudaLaunchAttribute& attribute = attributes[config.numAttrs++];
    attribute.id = cudaLaunchAttributeClusterDimension;
    attribute.val.clusterDim.x = static_cast<unsigned>(cluster.x);
    attribute.val.clusterDim.y = static_cast<unsigned>(cluster.y);
    attribute.val.clusterDim.z = static_cast<unsigned>(cluster.z);
  }
  if (cooperative) {
    cudaLaunchAttribute& attribute = attributes[config.numAttrs++];
    attribute.id = cudaLaunchAttributeCooperative;
    attribute.val.cooperative = 1;
  }
  config.attrs = attributes;
  std::tuple<std::remove_cv_t<Parameters>...> values{
      converted<std::remove_cv_t<Parameters>>(arguments)...};
  std::apply(
      [&](auto&... value) {
        void* pointers[sizeof...(Parameters) + 1] = {
            const_cast<void*>(static_cast<const void*>(&value))...};
        PLAN_CHECK(cudaLaunchKernelExC(&config, reinterpret_cast<const void*>(kernel), pointers));
      },
      values);
}

template <class Body, Number... kIndices>
void unroll(const Body& body, std::integer_sequence<Number, kIndices...>) {
  (body(std::integral_constant<Number, kIndices>{}), ...);
}
/// Calls `body` with the integral constants 0, 1, ..., kTimes - 1.
template <Number kTimes, class Body> void unroll(const Body& body) {
  unroll(body, std::make_integer_sequence<Number, kTimes>{});
}

// ---- tensor maps
inline CUtensorMap tensor_map(const Place& place, CUtensorMapDataType type, Number element_bytes,
                              std::initializer_list<Number> extents,
                              std::initializer_list<Number> strides,
                              std::initializer_list<Number> box,
                              std::initializer_list<Number> element_strides,
                              CUtensorMapInterleave interleave, CUtensorMapSwizzle swizzle,
                              CUtensorMapL2promotion promotion, CUtensorMapFloatOOBfill outside) {
  static const auto encode = [] {
    void* found = nullptr;
    cudaDriverEntryPointQueryResult result{};
#if CUDART_VERSION >= 12050
    PLAN_CHECK(cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &found, 12000,
                                                cudaEnableDefault, &result));
#else
    PLAN_CHECK(cudaGetDriverEntryPoint("cuTensorMapEncodeTiled", &found, cudaEnableDefault,
                                       &result));
#endif
    if (found == nullptr || result != cudaDriverEntryPointSuccess) {
      fail("cuTensorMapEncodeTiled", "the driver has no such function");
    }
    return reinterpret_cast<decltype(&cuTensorMapEncodeTiled)>(found);
  }();
  cuuint64_t sizes[5] = {}, gaps[5] = {};
  cuuint32_t boxes[5] = {}, steps[5] = {1, 1, 1, 1, 1};
  const std::size_t rank = extents.size();
  Number packed = 1;
  for (std::size_t i = 0; i < rank; ++i) {
    sizes[i] = static_cast<cuuint64_t>(extents.begin()[i]);
    boxes[i] = static_cast<cuuint32_t>(box.begin()[i]);
    packed *= extents.begin()[i];
    if (i + 1 < rank) {
      gaps[i] = static_cast<cuuint64_t>(
          (strides.size() == 0 ? packed : strides.begin()[i]) * element_bytes);
    }
    if (element_strides.size() != 0) {
      steps[i] = static_cast<cuuint32_t>(element_strides.begin()[i]);
    }
  }
  CUtensorMap map{};
  if (encode(&map, type, static_cast<cuuint32_t>(rank), place.pointer(), sizes, gaps, boxes, steps,
             interleave, swizzle, promotion, outside) != CUDA_SUCCESS) {
    fail("cuTensorMapEncodeTiled", place.buffer->name);
  }
  return map;
}

// ---- inputs
__global__ void generate_inputs(winnow::tasks::GeneratorSpec spec, DType dtype,
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
  generate_inputs<<<2048, 256>>>(spec, buffer.dtype, {seed, name_hash}, buffer.data,
                                 buffer.element_bytes, buffer.count);
  PLAN_CHECK(cudaGetLastError());
}

// ---- the comparison with the reference
/// An element may differ by multiple * unit * magnitude + rounding * |expected| + absolute. The
/// root mean square of (difference - the last two) / (unit * magnitude) is at most norm_multiple.
struct Limits {
  double multiple, norm_multiple, unit, rounding, absolute;
  bool nan_allowed, exact;
};
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
/// Prints the result; true if `got` is within the limits.
inline bool compare(const Buffer& got, const Buffer& expected, const Buffer& magnitude,
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
  if (found.wrong != 0) {
    std::printf("  %s: WRONG: %llu of %lld elements differ, the first is element %llu\n", got.name,
                found.wrong, got.count, found.first);
  } else {
    std::printf("  %s: %s, error %.3g of a limit of %.3g (root mean square)\n", got.name,
                good ? "correct" : "WRONG", norm, limits.norm_multiple);
  }
  return good;
}

// ---- times
template <class Reset, class Run>
double median_microseconds(const Device& device, const Reset& reset, const Run& run) {
  constexpr int kWarmUps = 5, kSamples = 101;
  const std::size_t flushed = static_cast<std::size_t>(device.l2_bytes) * 4 + (1U << 20U);
  void* flush = nullptr;
  PLAN_CHECK(cudaMalloc(&flush, flushed));
  cudaEvent_t begin{}, end{};
  PLAN_CHECK(cudaEventCreate(&begin));
  PLAN_CHECK(cudaEventCreate(&end));
  std::vector<double> times;
  for (int i = 0; i < kWarmUps + kSamples; ++i) {
    reset();
    PLAN_CHECK(cudaMemsetAsync(flush, i, flushed)); // cold caches, as on the board
    PLAN_CHECK(cudaEventRecord(begin));
    run();
    PLAN_CHECK(cudaEventRecord(end));
    PLAN_CHECK(cudaEventSynchronize(end));
    float milliseconds = 0;
    PLAN_CHECK(cudaEventElapsedTime(&milliseconds, begin, end));
    if (i >= kWarmUps) {
      times.push_back(1000.0 * static_cast<double>(milliseconds));
    }
  }
  PLAN_CHECK(cudaEventDestroy(begin));
  PLAN_CHECK(cudaEventDestroy(end));
  PLAN_CHECK(cudaFree(flush));
  std::sort(times.begin(), times.end());
  return times[times.size() / 2];
}

// ---- one shape
enum class Role { Input, Output, InOut };
struct Tensor {
  const char* name;
  DType dtype;
  Number element_bytes;
  Role role;
  int reference; ///< the index of the reference's tensor
  int magnitude; ///< the index of the magnitude that its error limit scales with; -1: exact
};

__global__ void convert_elements(Buffer from, Buffer to) {
  for (Number i = blockIdx.x * Number{blockDim.x} + threadIdx.x; i < from.count;
       i += Number{gridDim.x} * blockDim.x) {
    const unsigned long long bits = winnow::tasks::core::element_bits(to.dtype, element(from, i));
    for (Number b = 0; b < to.element_bytes; ++b) {
      to.data[i * to.element_bytes + b] = static_cast<char>(bits >> (8 * b));
    }
  }
}

inline Buffer buffer_of(const Tensor& tensor, Number count) {
  Buffer buffer{tensor.name, tensor.dtype, tensor.element_bytes};
  allocate(buffer, count);
  return buffer;
}

/// Checks and times the kernel at the shape. `Kernel` and `Reference` are the plans; their shapes
/// have the parameters of each, too.
template <class Shape, class Kernel, class KernelShape, class Reference, class ReferenceShape>
bool run_shape(const Device& device, const std::vector<Tensor>& tensors,
               const std::vector<Tensor>& reference_tensors) {
  std::printf("%s\n", Shape::text);
  std::vector<Buffer> buffers, begins; // `begins` has the contents before a run
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    buffers.push_back(buffer_of(tensors[i], Shape::counts[i]));
    begins.push_back(tensors[i].role == Role::InOut ? buffer_of(tensors[i], Shape::counts[i])
                                                    : buffers.back());
  }
  Shape::draw(begins);
  std::vector<Buffer> expected;
  for (const Tensor& tensor : reference_tensors) {
    const Buffer& own = begins[static_cast<std::size_t>(tensor.reference)];
    expected.push_back(tensor.role == Role::Input ? own : buffer_of(tensor, own.count));
    if (tensor.role == Role::InOut) {
      convert_elements<<<1024, 256>>>(own, expected.back());
      PLAN_CHECK(cudaGetLastError());
    }
  }
  Reference::template scratch<ReferenceShape>(device, expected);
  Reference::template prepare<ReferenceShape>(nullptr, device, expected.data());
  Reference::template run<ReferenceShape>(nullptr, device, expected.data());
  const auto reset = [&] {
    for (std::size_t i = 0; i < tensors.size(); ++i) {
      if (tensors[i].role == Role::InOut) {
        copy(nullptr, {&begins[i]}, {&buffers[i]}, -1, 1, -1, -1);
      }
    }
  };
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    if (tensors[i].role == Role::Output) { // an element that nothing writes is no number
      PLAN_CHECK(cudaMemset(buffers[i].data, 0xff,
                            static_cast<std::size_t>(buffers[i].count * buffers[i].element_bytes)));
    }
  }
  Kernel::template scratch<KernelShape>(device, buffers);
  Kernel::template prepare<KernelShape>(nullptr, device, buffers.data());
  reset();
  Kernel::template run<KernelShape>(nullptr, device, buffers.data());
  PLAN_CHECK(cudaDeviceSynchronize());
  bool good = true;
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    const Tensor& tensor = tensors[i];
    if (tensor.role != Role::Input) {
      const int magnitude = tensor.magnitude < 0 ? tensor.reference : tensor.magnitude;
      const Buffer& wanted = expected[static_cast<std::size_t>(tensor.reference)];
      good = compare(buffers[i], wanted, expected[static_cast<std::size_t>(magnitude)],
                     Shape::limits(i)) &&
             good;
    }
  }
  const double median = median_microseconds(device, reset, [&] {
    Kernel::template run<KernelShape>(nullptr, device, buffers.data());
  });
  std::printf("  median of 101 runs with cold caches: %.2f us\n", median);
  std::set<char*> owned;
  for (const std::vector<Buffer>* all : {&buffers, &begins, &expected}) {
    for (const Buffer& buffer : *all) {
      owned.insert(buffer.data);
    }
  }
  for (char* data : owned) {
    PLAN_CHECK(cudaFree(data));
  }
  return good;
}

} // namespace plan
