#include "evaluators/device/gpu/gpu_timing.h"

#include "base/random_bits.h"
#include "tasks/result/evaluation.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstddef>
#include <utility>
#include <vector>

namespace winnow::evaluators::gpu {
namespace {

// Read several times the size of the cache. A line may have copies in both halves of the cache, and
// the replacement policy is not strictly LRU, so one time the size leaves some old lines.
constexpr std::size_t kCacheSizes = 3;
constexpr std::size_t kUnknownCacheBytes = std::size_t{64} << 20U;

constexpr std::uint64_t kPatienceNs = 100'000'000;

constexpr std::size_t kEmptyLaunches = 15; // at least this many, and one per stream

// Indices of the mapped words.
constexpr std::size_t kReleased = 0; ///< turns up to this number are released
constexpr std::size_t kGaveUp = 1;   ///< the last turn that was not released in time
constexpr std::size_t kStamps = 2;   ///< two stamps of two words each
constexpr std::size_t kWords = 6;

std::atomic_ref<std::uint64_t> word(const MappedWords& words, std::size_t index) {
  return std::atomic_ref<std::uint64_t>(words.host[index]);
}

GpuAddress address_of(const MappedWords& words, std::size_t index) {
  return words.device + index * sizeof(std::uint64_t);
}

/// Selects a stream as long as this object lives, then stream 0 again.
class SelectedStream {
public:
  SelectedStream(GpuDriver& driver, std::size_t number) : driver_(driver) {
    driver_.select_stream(number);
  }
  ~SelectedStream() { driver_.select_stream(0); }
  SelectedStream(const SelectedStream&) = delete; // goes back once
  SelectedStream& operator=(const SelectedStream&) = delete;

private:
  GpuDriver& driver_;
};

/// Releases the stream at the end of the scope, even after an exception. Create it before the hold.
class ReleaseAtEnd {
public:
  ReleaseAtEnd(const MappedWords& words, std::uint64_t turn) : words_(words), turn_(turn) {}
  ~ReleaseAtEnd() {
    if (words_.host != nullptr) {
      word(words_, kReleased).store(turn_);
    }
  }
  ReleaseAtEnd(const ReleaseAtEnd&) = delete; // releases once
  ReleaseAtEnd& operator=(const ReleaseAtEnd&) = delete;

private:
  const MappedWords& words_;
  std::uint64_t turn_;
};

} // namespace

std::optional<double> clock_mhz(const ClockStamp& before, const ClockStamp& after,
                                std::uint64_t step_ns) {
  constexpr double kMaxError = 0.05;
  constexpr double kMegahertz = 1000; // of one cycle per nanosecond
  if (before.ns == 0 || step_ns == 0 || after.ns <= before.ns || after.cycles <= before.cycles) {
    return std::nullopt;
  }
  const auto ns = static_cast<double>(after.ns - before.ns);
  if (static_cast<double>(step_ns) > kMaxError * ns) {
    return std::nullopt;
  }
  return static_cast<double>(after.cycles - before.cycles) / ns * kMegahertz;
}

Timing::~Timing() {
  try {
    if (cache_filler_.begin != 0) {
      driver_.release(cache_filler_.begin);
    }
  } catch (const GpuError&) { // the context is lost, and the memory with it
  }
}

void Timing::begin_turn() {
  stream_ = random_bits() % driver_.stream_count();
}

void Timing::empty_cache() {
  if (cache_filler_.begin == 0) {
    const std::size_t cache =
        cache_bytes_ > 0 ? static_cast<std::size_t>(cache_bytes_) : kUnknownCacheBytes;
    cache_filler_ = {driver_.allocate(kCacheSizes * cache), kCacheSizes * cache};
    driver_.fill(cache_filler_.begin, 0, 4, cache_filler_.bytes / 4);
  }
  driver_.reset_persisting_cache();
  helpers_.drive_out_of_cache(cache_filler_);
}

void Timing::prepare(const std::string& where) {
  if (std::exchange(prepared_, true)) {
    return;
  }
  words_ = driver_.map_words(kWords);
  if (words_.host == nullptr) {
    return;
  }
  clock_step_ns_ = helpers_.clock_step_ns();
  const std::size_t streams = driver_.stream_count();
  std::vector<double> apart_ns;
  for (std::size_t i = 0; i < std::max(kEmptyLaunches, streams); ++i) {
    const SelectedStream on(driver_, i % streams);
    queue([] {}, true);
    waiter_.wait(where);
    if (const TimedLaunch nothing = take(); !nothing.disturbed) {
      apart_ns.push_back(static_cast<double>(nothing.elapsed.count()));
    }
  }
  marks_apart_ = std::chrono::nanoseconds(std::llround(tasks::median(std::move(apart_ns))));
}

TimedLaunch Timing::time(const std::function<void()>& queue_work, CacheState caches, bool hold,
                         const std::string& where) {
  prepare(where);
  if (stream_ != 0) {
    waiter_.wait(where); // waits for the work on stream 0
  }
  const SelectedStream on(driver_, stream_);
  if (caches == CacheState::Cold) {
    empty_cache();
  }
  queue(queue_work, hold);
  waiter_.wait(where);
  return take();
}

void Timing::queue(const std::function<void()>& queue_work, bool hold) {
  held_ = hold && may_hold();
  const ReleaseAtEnd release(words_, ++turn_);
  if (held_) {
    helpers_.hold(address_of(words_, kReleased), turn_, kPatienceNs, address_of(words_, kGaveUp));
  }
  stamp(0);
  driver_.mark(0);
  queue_work();
  driver_.mark(1);
  stamp(1);
}

void Timing::stamp(std::size_t which) {
  if (words_.host != nullptr) {
    const std::size_t place = kStamps + 2 * which;
    word(words_, place).store(0);
    helpers_.stamp_clock(address_of(words_, place));
  }
}

ClockStamp Timing::stamped(std::size_t which) const {
  const std::size_t place = kStamps + 2 * which;
  return {word(words_, place).load(), word(words_, place + 1).load()};
}

TimedLaunch Timing::take() {
  TimedLaunch taken;
  taken.elapsed = driver_.between_marks();
  if (words_.host != nullptr) {
    taken.clock_mhz = clock_mhz(stamped(0), stamped(1), clock_step_ns_);
    taken.disturbed = held_ && word(words_, kGaveUp).load() == turn_;
    if (held_) {
      disturbed_in_a_row_ = taken.disturbed ? disturbed_in_a_row_ + 1 : 0;
      taken.elapsed = std::max(taken.elapsed - marks_apart_, std::chrono::nanoseconds{1});
    }
  }
  return taken;
}

} // namespace winnow::evaluators::gpu
