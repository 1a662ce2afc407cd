#include "evaluators/worker/drawn_inputs.h"

#include "base/error.h"

#include <algorithm>
#include <cerrno>
#include <cstring>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

namespace winnow::evaluators {
namespace {

using Kind = tasks::Buffer::Kind;

constexpr std::uint64_t kMinBytes = std::uint64_t{64} << 10U; // less is drawn in a millisecond
constexpr std::size_t kMaxInputs = 64; // a worker may have 256 descriptors open

bool same(const LargeInput& one, const LargeInput& other) {
  return one.bytes == other.bytes && one.draw == other.draw;
}

/// Adds the inputs of one plan under one seed.
void add_inputs(const tasks::ResolvedPlan& plan, std::uint64_t seed,
                std::vector<LargeInput>& inputs) {
  for (const tasks::Buffer& buffer : plan.buffers) {
    LargeInput input;
    input.bytes = static_cast<std::uint64_t>(buffer.count) * tasks::size_bytes(buffer.dtype);
    if ((buffer.kind != Kind::Input && buffer.kind != Kind::InOut) || input.bytes < kMinBytes) {
      continue;
    }
    input.draw = {buffer.generator, buffer.dtype, seed, tasks::hash_name(buffer.name)};
    const bool known = std::any_of(inputs.begin(), inputs.end(),
                                   [&](const LargeInput& one) { return same(one, input); });
    if (!known && inputs.size() < kMaxInputs) {
      inputs.push_back(input);
    }
  }
}

[[noreturn]] void fail(const char* call, const LargeInput& input) {
  throw Error(fmt::format("an input of {} bytes cannot be kept in memory: {}: {}", input.bytes,
                          call, std::strerror(errno)));
}

/// Sealed: neither who has the descriptor nor anybody else can write it.
UniqueFd drawn_file(const LargeInput& input) {
  UniqueFd file(memfd_create("winnow-input", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  if (!file || ftruncate(file.get(), static_cast<off_t>(input.bytes)) != 0) {
    fail("memfd_create", input);
  }
  void* data = mmap(nullptr, input.bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file.get(), 0);
  if (data == MAP_FAILED) {
    fail("mmap", input);
  }
  draw_elements(input.draw, {static_cast<std::byte*>(data), input.bytes});
  munmap(data, input.bytes); // a mapping that can be written forbids the seal
  if (fcntl(file.get(), F_ADD_SEALS, F_SEAL_WRITE | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) !=
      0) {
    fail("F_ADD_SEALS", input);
  }
  return file;
}

} // namespace

std::vector<LargeInput> large_inputs(const RunRequest& request) {
  std::vector<LargeInput> inputs;
  for (const RunCase& run_case : request.cases) {
    if (!run_case.sampling || run_case.sampling->slots.empty()) {
      add_inputs(run_case.plan, run_case.seed, inputs);
      continue;
    }
    for (const TimedSlot& slot : run_case.sampling->slots) {
      add_inputs(run_case.plan, slot.seed, inputs);
    }
  }
  return inputs;
}

std::vector<int> DrawnInputs::lend(const std::vector<LargeInput>& inputs) {
  std::uint64_t wanted = 0;
  for (const LargeInput& input : inputs) {
    wanted += input.bytes;
  }
  if (wanted > max_bytes_) {
    return {};
  }
  std::vector<int> files;
  for (const LargeInput& input : inputs) {
    files.push_back(renew(input).file.get());
  }
  while (bytes_ > max_bytes_) { // all that are lent are at the end
    bytes_ -= entries_.front().input.bytes;
    entries_.pop_front();
  }
  return files;
}

const DrawnInputs::Entry& DrawnInputs::renew(const LargeInput& input) {
  const auto found = std::find_if(entries_.begin(), entries_.end(),
                                  [&](const Entry& entry) { return same(entry.input, input); });
  if (found != entries_.end()) {
    std::rotate(found, found + 1, entries_.end());
    return entries_.back();
  }
  entries_.push_back({input, drawn_file(input)});
  bytes_ += input.bytes;
  return entries_.back();
}

LentInputs::LentInputs(const RunRequest& request, int first_fd) : first_fd_(first_fd) {
  if (request.inputs_lent) {
    inputs_ = large_inputs(request);
  }
}

bool LentInputs::read(const Draw& draw, std::span<std::byte> to) const {
  const auto found = std::find_if(inputs_.begin(), inputs_.end(), [&](const LargeInput& one) {
    return same(one, {draw, to.size()});
  });
  if (found == inputs_.end()) {
    return false;
  }
  const int file = first_fd_ + static_cast<int>(found - inputs_.begin());
  std::size_t done = 0;
  while (done < to.size()) {
    const ssize_t count = pread(file, to.data() + done, to.size() - done, static_cast<off_t>(done));
    if (count <= 0 && !(count < 0 && errno == EINTR)) {
      return false; // it is drawn then, to the same bits
    }
    done += static_cast<std::size_t>(std::max<ssize_t>(count, 0));
  }
  return true;
}

} // namespace winnow::evaluators
