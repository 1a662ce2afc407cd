// The state of the double: live objects, queued work, and failures to inject.
#pragma once

#include "evaluators/device/hip/hip_functions.h"
#include "evaluators/device/hip/test_double/hip_double.h"

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace hip_double {

namespace hip = winnow::evaluators::hip;

constexpr int kSuccess = 0;
constexpr int kInvalidValue = 1;
constexpr int kNotInitialized = 3;
constexpr int kInvalidConfiguration = 9;
constexpr int kInvalidDevice = 101;
constexpr int kNoBinaryForGpu = 209;
constexpr int kInvalidHandle = 400;
constexpr int kNotFound = 500;
constexpr int kNotReady = 600;
constexpr int kIllegalAddress = 700;
constexpr int kHostMemoryNotRegistered = 713;
constexpr int kCooperativeLaunchTooLarge = 720;
constexpr int kStreamCaptureUnsupported = 900;
constexpr int kStreamCaptureInvalidated = 901;

struct Kernel {
  HipDoubleKernel run = nullptr;
  void* context = nullptr;
  std::vector<std::size_t> parameter_bytes;
};

/// One work item of a stream. Its result is returned by the call that waits for it.
using Work = std::function<int()>;

struct FakeEvent {
  bool recorded = false; ///< its record call was queued
  bool reached = false;
  std::uint64_t time_us = 0;
};

struct FakeStream {
  std::deque<Work> queue;
  bool capturing = false;
  bool capture_broken = false;
  std::vector<Work> captured;
};

struct FakeModule {
  std::set<std::string> kernels;
  /// Handles are the addresses of the strings
  std::map<std::string, std::unique_ptr<std::string>> functions;
};

using FakeGraph = std::vector<Work>;

/// Device memory. Released memory is kept and poisoned, so that stray accesses do no harm.
class Memory {
public:
  void* allocate(std::size_t bytes);
  bool release(void* address);
  /// Whether the whole range lies in one live allocation.
  bool contains(const void* address, std::size_t bytes) const;
  bool was_released(const void* address) const;
  std::vector<std::string> alive() const;

private:
  struct Block {
    std::vector<std::byte> bytes;
    void* begin = nullptr;
    std::size_t size = 0;
    bool live = true;
  };
  std::vector<Block> blocks_;
};

class State {
public:
  // ---- Control by the tests ----
  void fail(const std::string& call, int skipped, int result);
  /// Called first in every API function. A result other than kSuccess must be returned at once.
  int enter(const std::string& call);
  /// For functions that destroy an object: an injected failure is returned after the work.
  int enter_destroyer(const std::string& call, const std::function<int()>& destroy);
  int problem(const std::string& what, int result);
  std::string leaks() const;

  // ---- Streams ----
  FakeStream* stream(hip::Stream handle, const char* call);
  int queue(hip::Stream handle, const char* call, Work work);
  /// Runs up to `steps` queued items. kSuccess when the queue is empty.
  int run(FakeStream& stream, std::size_t steps);
  int refuse_while_capturing();
  int copy(void* to, const void* from, std::size_t bytes);
  bool check_range(const char* call, const void* address, std::size_t bytes);

  bool initialised = false;
  int device = 0;
  int sticky = kSuccess;
  int kernel_fault = kSuccess;
  std::uint64_t clock_us = 0;
  Memory memory;
  std::map<std::string, Kernel> kernels;
  std::map<const void*, std::unique_ptr<FakeStream>> streams;
  std::map<const void*, std::unique_ptr<FakeEvent>> events;
  std::map<const void*, std::unique_ptr<FakeModule>> modules;
  std::map<const void*, std::unique_ptr<FakeGraph>> graphs;
  std::map<const void*, std::unique_ptr<FakeGraph>> instances;
  std::map<const void*, std::size_t> pinned;
  std::string problems;
  std::string calls;

private:
  struct Failure {
    std::string call;
    int skipped = 0;
    int result = kSuccess;
  };
  int injected(const std::string& call);
  std::vector<Failure> failures_;
};

State& state();

} // namespace hip_double
