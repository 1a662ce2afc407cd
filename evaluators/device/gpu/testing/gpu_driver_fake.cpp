#include "evaluators/device/gpu/testing/gpu_driver_fake.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <iterator>

namespace winnow::evaluators {
namespace {

constexpr std::size_t kAlignment = 256; // the alignment of cuMemAlloc

std::byte* at(GpuAddress address) {
  return std::bit_cast<std::byte*>(address);
}

// Copies of a launch's arguments, made when the launch is queued.
struct Values {
  std::vector<std::vector<std::byte>> bytes;

  Values(const HostKernel& kernel, const GpuLaunch& launch) {
    for (std::size_t i = 0; i < kernel.parameter_bytes.size(); ++i) {
      const auto* from = static_cast<const std::byte*>(launch.arguments.at(i));
      bytes.emplace_back(from, from + kernel.parameter_bytes[i]);
    }
  }
  std::vector<void*> pointers() {
    std::vector<void*> pointers;
    for (std::vector<std::byte>& value : bytes) {
      pointers.push_back(value.data());
    }
    return pointers;
  }
};

} // namespace

FakeGpuDriver::FakeGpuDriver() {
  kernels = host_helper_kernels();
  const auto word = [](void* argument) { return *static_cast<std::uint64_t**>(argument); };
  const std::vector<std::size_t> one_word{8};
  timing_kernels_ = {
      {"winnow_hold",
       {{8, 8, 8, 8},
        [=, this](const std::vector<void*>& arguments) {
          hold(word(arguments[0]), *static_cast<std::uint64_t*>(arguments[1]), word(arguments[3]));
        }}},
      {"winnow_stamp_clock",
       {one_word, [=, this](const std::vector<void*>& arguments) { stamp(word(arguments[0])); }}},
      {"winnow_clock_step", {one_word, [=, this](const std::vector<void*>& arguments) {
                               *word(arguments[0]) = clock_step_ns;
                             }}}};
}

FakeGpuDriver::~FakeGpuDriver() {
  if (left_over != nullptr) {
    *left_over = memory_.size() + modules_ + graphs_.size();
  }
}

std::size_t FakeGpuDriver::count(const std::string& call) const {
  return static_cast<std::size_t>(std::count(calls.begin(), calls.end(), call));
}

tasks::DeviceFacts FakeGpuDriver::facts() const {
  tasks::DeviceFacts facts;
  facts.sm_count = 2;
  facts.architecture = "fake_1";
  facts.l2_bytes = 4096;
  return facts;
}

bool FakeGpuDriver::holding() const {
  return released_ != nullptr && *released_ < turn_;
}

void FakeGpuDriver::hold(const std::uint64_t* released, std::uint64_t turn,
                         std::uint64_t* gave_up) {
  if (host_is_slow) {
    *gave_up = turn;
    return;
  }
  released_ = released;
  turn_ = turn;
}

void FakeGpuDriver::stamp(std::uint64_t* to) {
  to[0] = now_ns_ += step_ns;
  to[1] = now_cycles_ += step_cycles;
}

void FakeGpuDriver::called(const std::string& call, const std::string& more) {
  if (released_ != nullptr && !holding()) {
    released_ = nullptr;
    calls.emplace_back("let go");
  }
  calls.push_back(more.empty() ? call : call + " " + more);
  if (const auto found = failures.find(call); found != failures.end()) {
    const GpuError failure = found->second;
    failures.erase(found);
    throw GpuError(failure);
  }
}

void FakeGpuDriver::queue(Work work) {
  if (recording_ != nullptr) {
    recording_->push_back(std::move(work));
  } else {
    busy_ = true;
    work();
  }
}

GpuAddress FakeGpuDriver::allocate(std::size_t bytes) {
  called("allocate");
  auto memory = std::make_unique<std::byte[]>(bytes + kAlignment);
  const auto begin = reinterpret_cast<GpuAddress>(memory.get());
  const GpuAddress address = (begin + kAlignment - 1) / kAlignment * kAlignment;
  memory_.emplace(address, std::move(memory));
  return address;
}

void FakeGpuDriver::release(GpuAddress address) {
  called("release");
  if (memory_.erase(address) == 0) {
    throw Error("release of what is not allocated");
  }
}

void FakeGpuDriver::upload(GpuAddress to, std::span<const std::byte> bytes) {
  called("upload");
  require_whole(bytes);
  busy_ = false;
  std::copy(bytes.begin(), bytes.end(), at(to));
}

void FakeGpuDriver::download(std::span<std::byte> to, GpuAddress from) {
  called("download");
  require_whole(to);
  busy_ = false;
  std::copy(at(from), at(from) + to.size(), to.begin());
}

void FakeGpuDriver::queue_download(std::span<std::byte> to, GpuAddress from) {
  called("queue_download");
  require_whole(to);
  queue([to, from] { std::copy(at(from), at(from) + to.size(), to.begin()); });
}

void FakeGpuDriver::pin(std::span<std::byte> memory) {
  called("pin");
  pinned_ = memory;
}

// CUDA refuses such a copy with CUDA_ERROR_INVALID_VALUE.
void FakeGpuDriver::require_whole(std::span<const std::byte> memory) const {
  const std::byte *begin = memory.data(), *end = begin + memory.size();
  const std::byte *first = pinned_.data(), *last = first + pinned_.size();
  if (begin < last && end > first && (begin < first || end > last)) {
    throw Error("a copy of memory of which only a part is pinned");
  }
}

MappedWords FakeGpuDriver::map_words(std::size_t count) {
  called("map_words");
  if (!maps_words) {
    return {};
  }
  words_.assign(count, 0);
  return {words_.data(), reinterpret_cast<GpuAddress>(words_.data())};
}

GpuModule FakeGpuDriver::load_module(std::span<const std::byte> /*image*/) {
  called("load_module");
  ++modules_;
  return next_handle_++;
}

void FakeGpuDriver::unload_module(GpuModule /*module*/) {
  called("unload_module");
  --modules_;
}

GpuKernel FakeGpuDriver::find_kernel(GpuModule /*module*/, const std::string& symbol) {
  called("find_kernel", symbol);
  if (kernels.count(symbol) == 0) {
    throw GpuError("find_kernel", "NOT_FOUND", symbol, GpuFailure::BadModule, false);
  }
  symbols_.push_back(symbol);
  return symbols_.size();
}

GpuKernelFacts FakeGpuDriver::kernel_facts(GpuKernel /*kernel*/) {
  return {40, 128, local_bytes, 1024};
}

int FakeGpuDriver::resident_blocks(GpuKernel /*kernel*/, int /*block_threads*/,
                                   std::size_t /*shared_bytes*/) {
  return 1;
}

void FakeGpuDriver::launch(const GpuLaunch& launch) {
  const std::string& symbol = symbols_.at(launch.kernel - 1);
  called("launch", symbol);
  launches.push_back(launch);
  const auto timing = timing_kernels_.find(symbol);
  const HostKernel& kernel = timing != timing_kernels_.end() ? timing->second : kernels.at(symbol);
  queue([&kernel, values = Values(kernel, launch)]() mutable { kernel.run(values.pointers()); });
}

void FakeGpuDriver::fill(GpuAddress to, std::uint32_t value, int element_bytes, std::size_t count) {
  called("fill");
  queue([=] {
    const auto bytes = static_cast<std::size_t>(element_bytes);
    for (std::size_t i = 0; i < count; ++i) {
      std::memcpy(at(to) + i * bytes, &value, bytes);
    }
  });
}

void FakeGpuDriver::copy(GpuAddress to, std::size_t to_stride, GpuAddress from,
                         std::size_t from_stride, std::size_t row_bytes, std::size_t rows) {
  called("copy");
  queue([=] {
    for (std::size_t row = 0; row < rows; ++row) {
      std::memmove(at(to) + row * to_stride, at(from) + row * from_stride, row_bytes);
    }
  });
}

bool FakeGpuDriver::idle() {
  called("idle");
  busy_ = hangs || holding();
  return !busy_;
}

void FakeGpuDriver::select_stream(std::size_t number) {
  left_busy += busy_ && number != selected_stream ? 1 : 0;
  selected_stream = number;
}

GpuGraph FakeGpuDriver::record(const std::function<void()>& queue_work) {
  called("record");
  std::vector<Work> work;
  recording_ = &work;
  try {
    queue_work();
  } catch (...) {
    recording_ = nullptr;
    throw;
  }
  recording_ = nullptr;
  graphs_.emplace(next_handle_, std::move(work));
  return next_handle_++;
}

void FakeGpuDriver::launch(GpuGraph graph) {
  called("launch_graph");
  busy_ = true;
  for (Work& work : graphs_.at(graph)) {
    work();
  }
}

void FakeGpuDriver::release_graph(GpuGraph graph) {
  called("release_graph");
  graphs_.erase(graph);
}

void FakeGpuDriver::mark(int marker) {
  called("mark", std::to_string(marker));
}

std::chrono::nanoseconds FakeGpuDriver::between_marks() {
  called("between_marks");
  const auto last = std::find(calls.rbegin(), calls.rend(), "mark 1");
  const bool nothing =
      last != calls.rend() && std::next(last) != calls.rend() && *std::next(last) == "mark 0";
  return nothing ? between_nothing : between;
}

void FakeGpuDriver::reset_persisting_cache() {
  called("reset_persisting_cache");
}

TensorMapBytes FakeGpuDriver::encode(const tasks::ResolvedTensorMap& map, GpuAddress tensor) {
  called("encode");
  encoded = {map, tensor};
  TensorMapBytes bytes;
  bytes.bytes.fill(std::byte{0x2a});
  return bytes;
}

} // namespace winnow::evaluators
