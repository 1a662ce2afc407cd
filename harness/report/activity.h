#pragma once

#include "evaluators/host/machine_options.h"

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <functional>
#include <iosfwd>
#include <mutex>
#include <stop_token>
#include <string>
#include <thread>

namespace winnow::harness {

/// Example: "gemm.cu runs the search shapes | 7 s of at most 10.0 s".
std::string activity_line(const evaluators::Waiting& waiting, std::chrono::milliseconds elapsed);

/// On a terminal, draws a line that says what the program waits for and for how long. The line is
/// redrawn when it changes, at most five times a second. Elsewhere nothing is drawn. Any thread may
/// call the functions.
class Activity {
public:
  Activity(); ///< writes to stderr
  Activity(std::ostream& out, bool terminal, std::size_t columns);
  ~Activity();                        ///< removes the line
  Activity(const Activity&) = delete; // two objects would draw over each other
  Activity& operator=(const Activity&) = delete;

  void wait_for(const evaluators::Waiting& waiting);
  /// A function that calls wait_for(), for EvaluationOptions::waiting; empty if nothing is drawn.
  /// This object must outlive the function.
  std::function<void(const evaluators::Waiting&)> listener();
  /// Puts `text`, for example "3/12 judged", in front of the line from now on.
  void count(std::string text);
  /// Removes the line while `print` writes to the terminal.
  void away(const std::function<void()>& print);

private:
  void tick(const std::stop_token& stop);
  void draw();
  void erase();

  std::ostream& out_;
  const bool terminal_;
  const std::size_t columns_;
  std::mutex mutex_; ///< guards the members below, except thread_
  std::condition_variable_any changed_;
  evaluators::Waiting waiting_;
  std::chrono::steady_clock::time_point since_;
  std::string count_;
  std::string drawn_; ///< the line on the screen
  std::chrono::steady_clock::time_point drawn_at_;

  std::jthread thread_; ///< last, because the thread uses the members above
};

} // namespace winnow::harness
