#include "harness/report/activity.h"

#include "base/text.h"
#include "harness/config/duration.h"
#include "harness/report/terminal.h"
#include "harness/report/visible_output.h"

#include <filesystem>
#include <iostream>

#include <fmt/format.h>

namespace winnow::harness {
namespace {

using std::chrono::milliseconds;

using std::chrono::steady_clock;

constexpr milliseconds kRest{200}; // text that changes faster is unreadable

std::string whole_seconds(milliseconds duration) {
  return duration < std::chrono::minutes(1)
             ? fmt::format("{} s", duration / std::chrono::seconds(1))
             : format_duration(duration);
}

} // namespace

std::string activity_line(const evaluators::Waiting& waiting, milliseconds elapsed) {
  std::string line = std::filesystem::path(waiting.file).filename().string();
  line += (line.empty() ? "" : " ") + waiting.what;
  if (elapsed >= std::chrono::seconds(1)) {
    line += " | " + whole_seconds(elapsed);
    if (waiting.limit > elapsed) {
      line += " of at most " + format_duration(waiting.limit);
    }
  }
  return line;
}

Activity::Activity() : Activity(std::cerr, stderr_is_terminal(), terminal_columns()) {}

Activity::Activity(std::ostream& out, bool terminal, std::size_t columns)
    : out_(out), terminal_(terminal), columns_(columns) {
  if (terminal_) {
    thread_ = std::jthread([this](const std::stop_token& stop) { tick(stop); });
  }
}

Activity::~Activity() {
  thread_ = {};
  erase();
}

std::function<void(const evaluators::Waiting&)> Activity::listener() {
  if (!terminal_) {
    return {};
  }
  return [this](const evaluators::Waiting& waiting) { wait_for(waiting); };
}

void Activity::wait_for(const evaluators::Waiting& waiting) {
  const std::scoped_lock lock(mutex_);
  waiting_ = waiting;
  since_ = steady_clock::now();
  if (since_ - drawn_at_ >= kRest) {
    draw();
  }
}

void Activity::count(std::string text) {
  const std::scoped_lock lock(mutex_);
  count_ = std::move(text);
}

void Activity::away(const std::function<void()>& print) {
  const std::scoped_lock lock(mutex_);
  erase();
  print();
}

void Activity::tick(const std::stop_token& stop) {
  std::unique_lock lock(mutex_);
  while (!stop.stop_requested()) {
    changed_.wait_for(lock, stop, kRest, [] { return false; });
    if (!stop.stop_requested()) {
      draw();
    }
  }
}

void Activity::draw() {
  if (!terminal_ || waiting_.what.empty()) {
    return;
  }
  const auto elapsed = std::chrono::duration_cast<milliseconds>(steady_clock::now() - since_);
  std::string line =
      visible((count_.empty() ? "" : count_ + " | ") + activity_line(waiting_, elapsed));
  if (columns_ > 1 && line.size() >= columns_) {
    line.resize(columns_ - 1); // a line that wraps cannot be redrawn
  }
  if (line != drawn_) {
    out_ << erase_line << line << std::flush;
    drawn_ = std::move(line);
    drawn_at_ = steady_clock::now();
  }
}

void Activity::erase() {
  if (!drawn_.empty()) {
    out_ << erase_line << std::flush;
    drawn_.clear();
    drawn_at_ = {};
  }
}

} // namespace winnow::harness
