#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>

namespace winnow::harness {

/// Cuts a stream of bytes into lines. Of a line that is too long it keeps nothing.
class MessageLines {
public:
  explicit MessageLines(std::size_t most_bytes) : most_bytes_(most_bytes) {}

  /// What becomes of a line; `too_long`: it had more than the limit, and `text` is empty.
  using Take = std::function<void(std::string_view text, bool too_long)>;

  void add(std::string_view bytes, const Take& take);
  void finish(const Take& take); ///< the stream has ended: its last line may have no line end

private:
  void keep(std::string_view bytes);

  std::size_t most_bytes_;
  std::string line_;
  bool too_long_ = false;
};

} // namespace winnow::harness
