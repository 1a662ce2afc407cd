// The part of main.cu that is the same for every kernel: it checks and times a kernel at a shape.
namespace plan {

// ---- times, measured as Winnow measures them
/// Keeps the stream busy until *released reaches `turn`, for 0.1 s at most.
__global__ void hold(const volatile unsigned long long* released, unsigned long long turn,
                     volatile unsigned long long* gave_up) {
  const auto now = [] {
    unsigned long long ns = 0;
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(ns));
    return ns;
  };
  const unsigned long long start = now();
  while (*released < turn) {
    if (now() - start > 100000000) {
      *gave_up = turn;
      return;
    }
  }
}
/// The time and the cycles of multiprocessor 0. One block for each multiprocessor.
__global__ void stamp_clock(volatile unsigned long long* stamp) {
  unsigned multiprocessor = 0;
  asm volatile("mov.u32 %0, %%smid;" : "=r"(multiprocessor));
  if (threadIdx.x == 0 && multiprocessor == 0) {
    unsigned long long ns = 0, cycles = 0;
    asm volatile("mov.u64 %0, %%globaltimer;\n\tmov.u64 %1, %%clock64;" : "=l"(ns), "=l"(cycles));
    stamp[0] = ns;
    stamp[1] = cycles;
  }
}
/// Reading evicts all other data from the L2 cache, and leaves nothing to write back.
__global__ void read_all(const unsigned long long* zeros, Number count, unsigned long long* sum) {
  unsigned long long mine = 0;
  for (Number i = blockIdx.x * Number{blockDim.x} + threadIdx.x; i < count;
       i += Number{gridDim.x} * blockDim.x) {
    mine |= zeros[i];
  }
  if (mine != 0) { // never; but the compiler must not know
    *sum = mine;
  }
}

inline double quantile(std::vector<double> values, double share) {
  std::sort(values.begin(), values.end());
  return values.empty()
             ? 0
             : values[static_cast<std::size_t>(share * static_cast<double>(values.size() - 1))];
}

/// Times work between two events in a stream that is held until all is queued, so that no time of
/// the host lies between the events.
class Timer {
public:
  explicit Timer(const Device& device) : multiprocessors_(static_cast<unsigned>(device.sm_count)) {
    void* words = nullptr;
    PLAN_CHECK(cudaHostAlloc(&words, 8 * sizeof(unsigned long long), cudaHostAllocMapped));
    host_ = static_cast<volatile unsigned long long*>(words);
    PLAN_CHECK(cudaHostGetDevicePointer(&words, words, 0));
    words_ = static_cast<unsigned long long*>(words);
    std::fill(host_, host_ + 8, 0ULL);
    zeros_ = device.l2_bytes / 8 * 3 + 1024;
    const std::size_t bytes = static_cast<std::size_t>(zeros_) * sizeof(*filler_);
    PLAN_CHECK(cudaMalloc(reinterpret_cast<void**>(&filler_), bytes));
    PLAN_CHECK(cudaMemset(filler_, 0, bytes));
    PLAN_CHECK(cudaEventCreate(&begin_));
    PLAN_CHECK(cudaEventCreate(&end_));
    for (cudaStream_t& stream : streams_) { // a stream's addresses change a time by some 60 ns
      PLAN_CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    }
    const auto nothing = [](cudaStream_t) {};
    time(nothing, false); // loads the kernels, which a held stream could wait for
    std::vector<double> empty;
    for (std::size_t i = 0; i < kStreams; ++i) {
      empty.push_back(time(nothing, true));
    }
    empty_us_ = quantile(empty, 0.5);
  }
  ~Timer() {
    cudaEventDestroy(begin_);
    cudaEventDestroy(end_);
    for (cudaStream_t stream : streams_) {
      cudaStreamDestroy(stream);
    }
    cudaFree(filler_);
    cudaFreeHost(const_cast<unsigned long long*>(host_));
  }
  Timer(const Timer&) = delete;
  Timer& operator=(const Timer&) = delete;

  /// Microseconds between the events, with cold caches. `held`: holds the stream.
  template <class Work> double time(const Work& work, bool held) {
    PLAN_CHECK(cudaDeviceSynchronize());
    const cudaStream_t stream = streams_[++turn_ % kStreams];
    host_[4] = host_[6] = 0;
    PLAN_CHECK(cudaCtxResetPersistingL2Cache());
    read_all<<<8 * multiprocessors_, 256, 0, stream>>>(filler_, zeros_, words_ + 2);
    if (held) {
      hold<<<1, 1, 0, stream>>>(words_, turn_, words_ + 1);
    }
    stamp_clock<<<multiprocessors_, 256, 0, stream>>>(words_ + 4);
    PLAN_CHECK(cudaEventRecord(begin_, stream));
    work(stream);
    PLAN_CHECK(cudaEventRecord(end_, stream));
    stamp_clock<<<multiprocessors_, 256, 0, stream>>>(words_ + 6);
    PLAN_CHECK(cudaGetLastError());
    host_[0] = turn_; // releases the stream
    PLAN_CHECK(cudaStreamSynchronize(stream));
    float milliseconds = 0;
    PLAN_CHECK(cudaEventElapsedTime(&milliseconds, begin_, end_));
    return 1000.0 * static_cast<double>(milliseconds);
  }
  /// The host was too slow: the last time may contain time of the host.
  bool disturbed() const { return host_[1] == turn_; }
  /// The clock of multiprocessor 0 while the work ran; 0: not known.
  double megahertz() const {
    const unsigned long long begin = host_[4], end = host_[6];
    return begin == 0 || end <= begin ? 0
                                      : 1000.0 * static_cast<double>(host_[7] - host_[5]) /
                                            static_cast<double>(end - begin);
  }
  /// Between two events with nothing between them.
  double empty_us() const { return empty_us_; }

private:
  static constexpr std::size_t kStreams = 32;

  unsigned multiprocessors_;
  volatile unsigned long long* host_ = nullptr; ///< released, gave up, sum, -, two stamps
  unsigned long long* words_ = nullptr;         ///< the same words for the device
  unsigned long long* filler_ = nullptr;
  Number zeros_ = 0;
  cudaEvent_t begin_{}, end_{};
  cudaStream_t streams_[kStreams] = {};
  unsigned long long turn_ = 0;
  double empty_us_ = 0;
};

/// A plan of one kernel is launched itself, a longer one as a graph.
class Replay {
public:
  template <class Run> explicit Replay(const Run& run) {
    cudaStream_t stream{};
    PLAN_CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    PLAN_CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
    run(stream);
    cudaGraph_t graph{};
    PLAN_CHECK(cudaStreamEndCapture(stream, &graph));
    PLAN_CHECK(cudaGraphGetNodes(graph, nullptr, &steps_));
    cudaGraphNode_t first{};
    cudaGraphNodeType type = cudaGraphNodeTypeEmpty;
    if (steps_ == 1) {
      PLAN_CHECK(cudaGraphGetNodes(graph, &first, &steps_));
      PLAN_CHECK(cudaGraphNodeGetType(first, &type));
    }
    if (type != cudaGraphNodeTypeKernel) {
      PLAN_CHECK(cudaGraphInstantiate(&graph_, graph, 0));
      PLAN_CHECK(cudaGraphUpload(graph_, stream));
      PLAN_CHECK(cudaStreamSynchronize(stream));
    }
    PLAN_CHECK(cudaGraphDestroy(graph));
    PLAN_CHECK(cudaStreamDestroy(stream));
  }
  ~Replay() {
    if (graph_ != nullptr) {
      cudaGraphExecDestroy(graph_);
    }
  }
  Replay(const Replay&) = delete;
  Replay& operator=(const Replay&) = delete;

  template <class Run> void launch(cudaStream_t stream, const Run& run) const {
    if (graph_ != nullptr) {
      PLAN_CHECK(cudaGraphLaunch(graph_, stream));
    } else {
      run(stream);
    }
  }
  std::string text() const {
    return graph_ == nullptr ? "one kernel" : "a graph of " + std::to_string(steps_) + " steps";
  }

private:
  cudaGraphExec_t graph_ = nullptr;
  std::size_t steps_ = 0;
};

/// `renew` draws new inputs before each launch.
template <class Renew, class Run>
void print_time(const Device& device, const Renew& renew, const Run& run) {
  constexpr std::size_t kWarmUps = 10, kSamples = 101, kMostTurns = 500, kMostDisturbed = 20;
  Timer timer(device);
  const Replay replay(run);
  std::vector<double> times, clocks;
  std::size_t disturbed = 0;
  for (std::size_t turn = 0; turn < kMostTurns && times.size() < kSamples; ++turn) {
    renew(turn);
    const bool held = turn > 0 && disturbed < kMostDisturbed;
    const double us = timer.time([&](cudaStream_t stream) { replay.launch(stream, run); }, held);
    disturbed += timer.disturbed() ? 1 : 0;
    if (turn >= kWarmUps && !timer.disturbed()) {
      times.push_back(us);
      clocks.push_back(timer.megahertz());
    }
  }
  if (disturbed > 0) {
    std::printf("    in %zu launches the host was too slow%s\n", disturbed,
                disturbed < kMostDisturbed ? "" : ": the times contain time of the host");
  }
  const double raw = quantile(times, 0.5);
  std::printf("  time: %.2f us (median of %zu launches with cold caches and new inputs)\n",
              raw - timer.empty_us(), times.size());
  std::printf(
      "    events: %.2f us, and %.2f us with nothing between them, which is taken off; half of "
      "the launches: %.2f to %.2f us; %s; %.0f MHz\n",
      raw, timer.empty_us(), quantile(times, 0.25) - timer.empty_us(),
      quantile(times, 0.75) - timer.empty_us(), replay.text().c_str(), quantile(clocks, 0.5));
}

// ---- one shape
inline Buffer buffer_of(const Tensor& tensor, Number count) {
  Buffer buffer{tensor.name, tensor.dtype, tensor.element_bytes, count};
  allocate(buffer);
  return buffer;
}
inline void free_all(const std::vector<std::vector<Buffer>>& lists) {
  std::set<char*> owned;
  for (const std::vector<Buffer>& buffers : lists) {
    for (const Buffer& buffer : buffers) {
      owned.insert(buffer.data);
    }
  }
  for (char* data : owned) {
    PLAN_CHECK(cudaFree(data));
  }
}

/// An element that nothing writes is no number.
inline void poison_outputs(const std::vector<Tensor>& tensors, const std::vector<Buffer>& buffers) {
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    if (tensors[i].role == Role::Output) {
      PLAN_CHECK(cudaMemset(buffers[i].data, 0xff,
                            static_cast<std::size_t>(buffers[i].count * buffers[i].element_bytes)));
    }
  }
}

template <class Sizes>
bool compare_all(const Shape<Sizes>& shape, const std::vector<Tensor>& tensors,
                 const std::vector<Buffer>& buffers, const std::vector<Buffer>& expected) {
  bool good = true;
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    const Tensor& tensor = tensors[i];
    if (tensor.role != Role::Input) {
      const int magnitude = tensor.magnitude < 0 ? tensor.reference : tensor.magnitude;
      const Comparison found =
          compare(buffers[i], expected[static_cast<std::size_t>(tensor.reference)],
                  expected[static_cast<std::size_t>(magnitude)], shape.tensors[i].limits);
      std::printf("  %s\n", found.text.c_str());
      good = good && found.good;
    }
  }
  return good;
}

/// Checks and times the kernel at the shape. `Kernel` and `Reference` are the plans.
template <class Kernel, class Reference, class Sizes>
bool run_shape(const Device& device, const Shape<Sizes>& shape, const std::vector<Tensor>& tensors,
               const std::vector<Tensor>& reference_tensors) {
  constexpr unsigned long long kSeed = 1;
  std::printf("%s\n", shape.text);
  std::vector<Buffer> buffers, begins, expected; // `begins` has the contents before a run
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    const Number count = shape.tensors[i].count;
    buffers.push_back(buffer_of(tensors[i], count));
    const bool changes = tensors[i].role == Role::InOut;
    begins.push_back(changes ? buffer_of(tensors[i], count) : buffers.back());
  }
  draw(shape, tensors.data(), begins.data(), kSeed, true);
  for (const Tensor& tensor : reference_tensors) {
    const Buffer& own = begins[static_cast<std::size_t>(tensor.reference)];
    expected.push_back(tensor.role == Role::Input ? own : buffer_of(tensor, own.count));
  }
  run_reference<Reference>(device, shape.sizes, reference_tensors.data(), begins, expected);
  poison_outputs(tensors, buffers);
  Kernel::scratch(shape.sizes, device, buffers);
  for (std::size_t i = tensors.size(); i < buffers.size(); ++i) {
    allocate(buffers[i]);
  }
  Kernel::fill_once(nullptr, buffers.data());
  Kernel::prepare(shape.sizes, device, nullptr, buffers.data());
  draw(shape, tensors.data(), buffers.data(), kSeed, false);
  const auto run = [&](cudaStream_t stream) {
    Kernel::run(shape.sizes, device, stream, buffers.data());
  };
  run(nullptr);
  PLAN_CHECK(cudaDeviceSynchronize());
  const bool good = compare_all(shape, tensors, buffers, expected);
  const auto renew = [&](std::size_t turn) {
    draw(shape, tensors.data(), buffers.data(), kSeed + 1 + turn, false);
    poison_outputs(tensors, buffers);
  };
  print_time(device, renew, run);
  free_all({buffers, begins, expected});
  return good;
}

} // namespace plan
