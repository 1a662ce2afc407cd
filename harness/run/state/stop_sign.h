#pragma once

#include <cstdint>
#include <string>
#include <utility>

namespace winnow::harness {

/// Why a session ends before its searches are done.
class StopSign {
public:
  enum class Reason : std::uint8_t { None, Interrupted, WallTime, Failure };

  /// Only the first reason counts.
  void stop(Reason reason, std::string message) {
    if (reason_ == Reason::None) {
      reason_ = reason;
      message_ = std::move(message);
    }
  }
  /// An error that does not stop the run.
  void note_trouble(std::string trouble) { trouble_ = std::move(trouble); }

  bool is_up() const { return reason_ != Reason::None; }
  Reason reason() const { return reason_; }
  const std::string& message() const { return message_; }
  const std::string& trouble() const { return trouble_; } ///< the last one

private:
  Reason reason_ = Reason::None;
  std::string message_;
  std::string trouble_;
};

} // namespace winnow::harness
