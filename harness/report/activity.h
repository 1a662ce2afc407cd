#pragma once

#include "evaluators/evaluation/evaluator.h"

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

/// "gemm.cu runs the search shapes | 7 s of at most 10.0 s"
std::string activity_line(const evaluators::Waiting& waiting, std::chrono::milliseconds elapsed);

/// On a terminal: one line that says what the program waits for and for how long, redrawn when it
/// changes, five times a second at most. Elsewhere: nothing. Any thread.
class Activity {
public:
  Activity(); ///< on stderr
  Activity(std::ostream& out, bool terminal, std::size_t columns);
  ~Activity();                        ///< removes the line
  Activity(const Activity&) = delete; // two would draw over each other
  Activity& operator=(const Activity&) = delete;

  void wait_for(const evaluators::Waiting& waiting);
  /// wait_for(), for EvaluationOptions::waiting; empty where nothing is drawn. This outlives it.
  std::function<void(const evaluators::Waiting&)> listener();
  /// Stands before the line from now on: "3/12 judged".
  void count(std::string text);
  /// `print` writes to the terminal while the line is away.
  void away(const std::function<void()>& print);

private:
  void tick(const std::stop_token& stop);
  void draw();
  void erase();

  std::ostream& out_;
  const bool terminal_;
  const std::size_t columns_;
  std::mutex mutex_; ///< guards what follows
  std::condition_variable_any changed_;
  evaluators::Waiting waiting_;
  std::chrono::steady_clock::time_point since_;
  std::string count_;
  std::string drawn_; ///< the line on the screen
  std::chrono::steady_clock::time_point drawn_at_;

  std::jthread thread_; ///< last: it uses all of them
};

} // namespace winnow::harness
