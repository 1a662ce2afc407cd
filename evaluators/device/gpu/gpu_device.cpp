#include "evaluators/device/gpu/gpu_device_class.h"
#include "evaluators/device/gpu/gpu_fault.h"

#include <utility>

#include <fmt/format.h>

namespace winnow::evaluators {
namespace gpu {
namespace {

void require_inside(const GpuBuffer& source, std::size_t bytes, std::size_t offset) {
  if (offset > source.data.bytes || bytes > source.data.bytes - offset) {
    throw Error(fmt::format("download of {} bytes from byte {} of buffer '{}' of {}", bytes, offset,
                            source.name, source.data.bytes));
  }
}

} // namespace

GpuDevice::GpuDevice(std::unique_ptr<GpuDriver> driver, GpuDeviceOptions options)
    : driver_(std::move(driver)), clock_mhz_(driver_->clock_mhz()),
      helpers_(*driver_, options.helpers), buffers_(*driver_, helpers_),
      arena_(*driver_, options.arena), libraries_(*driver_, std::move(options.open_library)),
      waiter_(*driver_, options.deadline, std::move(options.on_fatal)),
      timing_(*driver_, helpers_, waiter_, driver_->facts().l2_bytes),
      profile_(*driver_, std::move(options.open_counters), std::move(options.open_monitor)) {}

GpuDevice::~GpuDevice() {
  try {
    drop_replays();
  } catch (const GpuError&) { // the context is lost, and the graphs with it
  }
}

DeviceFault GpuDevice::take_fault(const GpuError& error, const std::string& where) {
  DeviceFault fault = fault_of(error, where);
  if (is_end(error)) {
    dead_ = fault.detail;
  }
  return fault;
}

void GpuDevice::require_usable() const {
  if (!dead_.empty()) {
    throw Error("this device cannot be used any more since " + dead_,
                "continue in a new worker process");
  }
}

Steps& GpuDevice::steps() const {
  if (selected_ == nullptr) {
    throw Error("run() needs a module: call load_module() first");
  }
  return *selected_->steps;
}

void GpuDevice::load_module(const std::filesystem::path& path) {
  guarded("the module", [&] {
    drop_replays();
    selected_ = nullptr;
    loaded_.clear();
  });
  add_module(path);
  select_module(0);
}

std::size_t GpuDevice::add_module(const std::filesystem::path& path) {
  return guarded("the module", [&] {
    auto steps = std::make_unique<Steps>(*driver_, helpers_, buffers_, libraries_);
    steps->load_module(path);
    loaded_.push_back({path, std::move(steps)});
    return loaded_.size() - 1;
  });
}

void GpuDevice::drop_replays() {
  while (!replays_.empty()) {
    const GpuGraph graph = replays_.begin()->second.graph;
    replays_.erase(replays_.begin());
    if (graph != 0) {
      driver_->release_graph(graph);
    }
  }
}

std::size_t GpuDevice::allocate(const std::string& name, std::size_t bytes, bool read_only) {
  return guarded(fmt::format("buffer '{}' of {} bytes", name, bytes),
                 [&] { return buffers_.allocate(name, bytes, read_only); });
}

void GpuDevice::release_buffers() {
  if (usable()) { // also called while a DeviceFailure unwinds the stack
    guarded("releasing the buffers", [&] {
      drop_replays();
      buffers_.clear();
    });
  }
}

void GpuDevice::upload(std::size_t buffer, std::span<const std::byte> bytes) {
  const GpuBuffer& target = buffers_.at(buffer);
  if (bytes.size() > target.data.bytes) {
    throw Error(fmt::format("upload of {} bytes into buffer '{}' of {}", bytes.size(), target.name,
                            target.data.bytes));
  }
  guarded("the upload of '" + target.name + "'", [&] {
    arena_.cover(bytes);
    driver_->upload(target.data.begin, bytes);
    buffers_.note_contents(buffer);
  });
}

void GpuDevice::download(std::size_t buffer, std::span<std::byte> bytes, std::size_t offset) {
  const GpuBuffer& source = buffers_.at(buffer);
  require_inside(source, bytes.size(), offset);
  guarded("the download of '" + source.name + "'", [&] {
    arena_.cover(bytes);
    driver_->download(bytes, source.data.begin + offset);
  });
}

// One wait for all pieces: a wait for each takes longer than the copies.
void GpuDevice::download_pieces(std::size_t buffer, const std::vector<Piece>& pieces,
                                std::size_t element_bytes, std::span<std::byte> bytes) {
  const GpuBuffer& source = buffers_.at(buffer);
  const std::string what = "the download of '" + source.name + "'";
  guarded(what, [&] {
    arena_.cover(bytes);
    for (const Piece& piece : pieces) {
      const std::size_t size = piece.count * element_bytes;
      const std::size_t offset = piece.first * element_bytes;
      require_inside(source, size, offset);
      driver_->queue_download(bytes.first(size), source.data.begin + offset);
      bytes = bytes.subspan(size);
    }
    waiter_.wait(what);
  });
}

void GpuDevice::fill_pattern(std::size_t buffer, std::uint64_t pattern) {
  guarded("a fill", [&] {
    helpers_.fill(buffers_.at(buffer).data, pattern);
    buffers_.note_contents(buffer);
  });
}

void GpuDevice::generate(std::size_t buffer, const tasks::GeneratorSpec& generator,
                         tasks::DType dtype, std::uint64_t seed) {
  guarded("drawing an input", [&] { buffers_.generate(buffer, generator, dtype, seed); });
}

void GpuDevice::restore(std::size_t buffer) {
  guarded("drawing an input again", [&] { buffers_.restore(buffer); });
}

std::uint64_t GpuDevice::checksum(std::size_t buffer) {
  return guarded("a checksum", [&] { return helpers_.checksum(buffers_.at(buffer).data); });
}

std::optional<ErrorTotals> GpuDevice::compare(std::span<const std::byte> got,
                                              const std::vector<Piece>& pieces, tasks::DType dtype,
                                              std::size_t expected,
                                              std::optional<std::size_t> magnitude,
                                              const ErrorLimits& limits) {
  return guarded("comparing an output", [&] {
    return comparer_.compare(got, pieces, dtype, buffers_.at(expected).data,
                             magnitude ? buffers_.at(*magnitude).data : DeviceRange{}, limits);
  });
}

std::optional<DeviceFault> GpuDevice::verify_guards() {
  return guarded("checking the buffers", [&] { return buffers_.changed(); });
}

} // namespace gpu

std::unique_ptr<Device> make_gpu_device(std::unique_ptr<GpuDriver> driver,
                                        GpuDeviceOptions options) {
  return std::make_unique<gpu::GpuDevice>(std::move(driver), std::move(options));
}

} // namespace winnow::evaluators
