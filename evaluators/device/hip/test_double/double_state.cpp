#include "evaluators/device/hip/test_double/double_state.h"

#include <algorithm>
#include <cstring>

namespace hip_double {
namespace {

constexpr std::size_t kAlignment = 256;
constexpr std::byte kFresh{0xa5};
constexpr std::byte kReleased{0xdd};

std::unique_ptr<State>& current() {
  static std::unique_ptr<State> held = std::make_unique<State>();
  return held;
}

template <class Objects> void list(std::string& out, const char* what, const Objects& objects) {
  if (!objects.empty()) {
    out += std::to_string(objects.size()) + " " + what + "\n";
  }
}

} // namespace

void* Memory::allocate(std::size_t bytes) {
  Block block;
  block.bytes.assign(bytes + kAlignment, kFresh);
  void* begin = block.bytes.data();
  std::size_t space = block.bytes.size();
  block.begin = std::align(kAlignment, bytes, begin, space);
  block.size = bytes;
  blocks_.push_back(std::move(block));
  return blocks_.back().begin;
}

bool Memory::release(void* address) {
  const auto found = std::find_if(blocks_.begin(), blocks_.end(), [&](const Block& block) {
    return block.live && block.begin == address;
  });
  if (found == blocks_.end()) {
    return false;
  }
  found->live = false;
  std::fill(found->bytes.begin(), found->bytes.end(), kReleased);
  return true;
}

bool Memory::contains(const void* address, std::size_t bytes) const {
  const auto at = reinterpret_cast<std::uintptr_t>(address);
  return std::any_of(blocks_.begin(), blocks_.end(), [&](const Block& block) {
    const auto begin = reinterpret_cast<std::uintptr_t>(block.begin);
    return block.live && at >= begin && bytes <= block.size && at - begin <= block.size - bytes;
  });
}

bool Memory::was_released(const void* address) const {
  const auto at = reinterpret_cast<std::uintptr_t>(address);
  return std::any_of(blocks_.begin(), blocks_.end(), [&](const Block& block) {
    const auto begin = reinterpret_cast<std::uintptr_t>(block.begin);
    return !block.live && at >= begin && at < begin + block.size;
  });
}

std::vector<std::string> Memory::alive() const {
  std::vector<std::string> out;
  for (const Block& block : blocks_) {
    if (block.live) {
      out.push_back("an allocation of " + std::to_string(block.size) + " bytes");
    }
  }
  return out;
}

void State::fail(const std::string& call, int skipped, int result) {
  failures_.push_back({call, skipped, result});
}

int State::injected(const std::string& call) {
  for (auto failure = failures_.begin(); failure != failures_.end(); ++failure) {
    if (failure->call == call && failure->skipped-- == 0) {
      const int result = failure->result;
      failures_.erase(failure);
      return result;
    }
  }
  return kSuccess;
}

int State::enter(const std::string& call) {
  calls += call + "\n";
  if (const int result = injected(call); result != kSuccess) {
    return result;
  }
  if (sticky != kSuccess) {
    return sticky;
  }
  return initialised || call == "hipInit" ? kSuccess : kNotInitialized;
}

int State::enter_destroyer(const std::string& call, const std::function<int()>& destroy) {
  calls += call + "\n";
  const int failure = injected(call);
  const int result = destroy();
  if (failure != kSuccess) {
    return failure;
  }
  return result == kSuccess ? sticky : result;
}

int State::problem(const std::string& what, int result) {
  problems += what + "\n";
  return result;
}

std::string State::leaks() const {
  std::string out;
  for (const std::string& allocation : memory.alive()) {
    out += allocation + "\n";
  }
  list(out, "modules", modules);
  list(out, "streams", streams);
  list(out, "events", events);
  list(out, "graphs", graphs);
  list(out, "graph instances", instances);
  list(out, "pinned ranges", pinned);
  return out;
}

FakeStream* State::stream(hip::Stream handle, const char* call) {
  const auto found = streams.find(handle);
  if (found == streams.end()) {
    problem(std::string(call) + ": no such stream", kInvalidHandle);
    return nullptr;
  }
  return found->second.get();
}

int State::queue(hip::Stream handle, const char* call, Work work) {
  FakeStream* target = stream(handle, call);
  if (target == nullptr) {
    return kInvalidHandle;
  }
  if (target->capturing) {
    target->captured.push_back(std::move(work));
  } else {
    target->queue.push_back(std::move(work));
  }
  return kSuccess;
}

int State::run(FakeStream& stream, std::size_t steps) {
  for (; steps > 0 && !stream.queue.empty(); --steps) {
    const Work work = std::move(stream.queue.front());
    stream.queue.pop_front();
    clock_us += 1;
    if (const int result = work(); result != kSuccess) {
      stream.queue.clear();
      sticky = result;
      return result;
    }
  }
  return stream.queue.empty() ? kSuccess : kNotReady;
}

int State::refuse_while_capturing() {
  for (const auto& [handle, stream] : streams) {
    if (stream->capturing) {
      stream->capture_broken = true;
      return kStreamCaptureUnsupported;
    }
  }
  return kSuccess;
}

int State::copy(void* to, const void* from, std::size_t bytes) {
  std::memmove(to, from, bytes);
  return kSuccess;
}

bool State::check_range(const char* call, const void* address, std::size_t bytes) {
  if (memory.contains(address, bytes)) {
    return true;
  }
  problem(std::string(call) + ": " + std::to_string(bytes) + " bytes " +
              (memory.was_released(address) ? "in released memory" : "outside of any allocation"),
          kInvalidValue);
  return false;
}

State& state() {
  return *current();
}

} // namespace hip_double

extern "C" {

void hip_double_reset() {
  hip_double::current() = std::make_unique<hip_double::State>();
}

void hip_double_register(const char* name, HipDoubleKernel run, void* context,
                         const std::size_t* parameter_bytes, std::size_t parameters) {
  hip_double::state().kernels[name] = {
      run, context, {parameter_bytes, parameter_bytes + parameters}};
}

void hip_double_fail(const char* call, int skipped, int result) {
  hip_double::state().fail(call, skipped, result);
}

void hip_double_fault_kernel(int result) {
  hip_double::state().kernel_fault = result;
}

const char* hip_double_problems() {
  return hip_double::state().problems.c_str();
}

const char* hip_double_leaks() {
  static std::string text;
  text = hip_double::state().leaks();
  return text.c_str();
}

const char* hip_double_calls() {
  return hip_double::state().calls.c_str();
}
}
