#pragma once

#include "evaluators/device/draw.h"
#include "evaluators/process/unique_fd.h"
#include "evaluators/worker/protocol.h"

#include <cstdint>
#include <deque>
#include <span>
#include <vector>

namespace winnow::evaluators {

/// An input that takes longer to draw than to copy.
struct LargeInput {
  Draw draw;
  std::uint64_t bytes = 0;
};

/// Those of a request, each once, in an order that both of its ends know: with
/// RunRequest::inputs_lent, descriptor kFirstInputFd + i of the worker holds the bytes of number i.
std::vector<LargeInput> large_inputs(const RunRequest& request);
constexpr int kFirstInputFd = kArenaFd + 1;

/// Inputs that the coordinator has drawn once for all workers, each in a memory file of its own: a
/// worker gets those of its request, and nobody can write them any more.
class DrawnInputs {
public:
  explicit DrawnInputs(std::uint64_t max_bytes = kMaxBytes) : max_bytes_(max_bytes) {}

  /// Draws those that are not there yet. Descriptors, in order, until the next call; none when
  /// there is no room for all of them: workers then draw for themselves. Throws Error.
  std::vector<int> lend(const std::vector<LargeInput>& inputs);

private:
  static constexpr std::uint64_t kMaxBytes = std::uint64_t{256} << 20U;

  struct Entry {
    LargeInput input;
    UniqueFd file;
  };
  const Entry& renew(const LargeInput& input);

  std::uint64_t max_bytes_;
  std::uint64_t bytes_ = 0;
  std::deque<Entry> entries_; ///< the one used last at the end
};

/// The worker's end.
class LentInputs {
public:
  explicit LentInputs(const RunRequest& request, int first_fd = kFirstInputFd);

  /// Fills `to` with what draw_elements() would; false when that was not lent.
  bool read(const Draw& draw, std::span<std::byte> to) const;

private:
  std::vector<LargeInput> inputs_;
  int first_fd_;
};

} // namespace winnow::evaluators
