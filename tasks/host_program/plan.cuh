// The functions that host code of a launch plan calls. Names of the launch plan stand for
// themselves; the functions of its expressions are in the namespace `plan`.
namespace plan {

using Number = long long;

[[noreturn]] inline void fail(const std::string& what, const std::string& why) {
  throw std::runtime_error(what + ": " + why);
}
inline void check(cudaError_t result, const char* call) {
  if (result != cudaSuccess) {
    fail(call, cudaGetErrorString(result));
  }
}
#define PLAN_CHECK(call) ::plan::check((call), #call)

// ---- the functions of expressions. Integers have 64 bits, and `/` rounds down.
constexpr Number positive(Number divisor) {
  return divisor > 0 ? divisor
                     : throw std::invalid_argument("a divisor of the launch plan is not above 0");
}
constexpr Number floor_div(Number a, Number b) {
  return a / positive(b) - (a % b < 0 ? 1 : 0);
}
constexpr Number remainder(Number a, Number b) {
  return a - floor_div(a, b) * b;
}
constexpr Number ceil_div(Number a, Number b) {
  return a / positive(b) + (a % b > 0 ? 1 : 0);
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
/// A value of a table in the launch plan.
template <std::size_t Count>
Number entry(const char* name, const Number (&table)[Count], Number index) {
  if (index < 0 || index >= Number{Count}) {
    fail(std::string("the table ") + name, "it has no value " + std::to_string(index));
  }
  return table[index];
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

inline void allocate(Buffer& buffer) {
  const Number bytes = buffer.count * buffer.element_bytes;
  PLAN_CHECK(cudaMalloc(reinterpret_cast<void**>(&buffer.data),
                        static_cast<std::size_t>(bytes > 0 ? bytes : 1)));
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
  int number = 0;
  cudaDeviceProp found{};
  PLAN_CHECK(cudaGetDevice(&number));
  PLAN_CHECK(cudaGetDeviceProperties(&found, number));
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
inline const Device& current_device() {
  static thread_local std::map<int, Device> devices;
  int number = 0;
  PLAN_CHECK(cudaGetDevice(&number));
  const auto found = devices.find(number);
  return found != devices.end() ? found->second
                                : devices.emplace(number, this_device()).first->second;
}

// ---- launches
/// Converts an argument of the plan to the type of the kernel's parameter.
template <class To, class From> To converted(const From& value) {
  if constexpr (std::is_same_v<From, Place>) {
    if constexpr (std::is_pointer_v<To>) {
      return static_cast<To>(value.pointer());
    } else {
      static_assert(std::is_pointer_v<To>,
                    "the plan passes a buffer to a parameter that is no pointer");
    }
  } else if constexpr (std::is_same_v<From, To> || std::is_arithmetic_v<To>) {
    if constexpr (std::is_integral_v<From> && std::is_integral_v<To>) {
      if (static_cast<From>(static_cast<To>(value)) != value) {
        fail("a launch", std::to_string(value) + " is too large for the kernel's parameter");
      }
    }
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

// Without this call, static and dynamic shared memory together are limited to 48 KB.
template <class Kernel> void allow_shared(Kernel* kernel, Number bytes) {
  if (bytes == 0) {
    return;
  }
  static thread_local std::map<std::pair<int, const void*>, Number> allowed;
  int device = 0;
  PLAN_CHECK(cudaGetDevice(&device));
  const auto* function = reinterpret_cast<const void*>(kernel);
  Number& most = allowed[{device, function}];
  if (bytes > most) {
    PLAN_CHECK(cudaFuncSetAttribute(function, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                    static_cast<int>(bytes)));
    most = bytes;
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

/// The kernels whose names depend on sizes are those of the shapes that the host code knows.
[[noreturn]] inline void no_kernel(const char* name, const std::string& values) {
  fail(name, "this exported kernel was written for other shapes or another GPU, and has none for" + values);
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
    PLAN_CHECK(
        cudaGetDriverEntryPoint("cuTensorMapEncodeTiled", &found, cudaEnableDefault, &result));
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
      gaps[i] = static_cast<cuuint64_t>((strides.size() == 0 ? packed : strides.begin()[i]) *
                                        element_bytes);
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

} // namespace plan
