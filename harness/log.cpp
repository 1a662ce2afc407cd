#include "harness/log.h"

#include "base/secrets.h"
#include "harness/report/terminal.h"
#include "harness/report/visible_output.h"

#include <iostream>
#include <memory>
#include <mutex>

#include <spdlog/sinks/base_sink.h>
#include <spdlog/spdlog.h>

namespace winnow::harness {
namespace {

/// Writes through std::cerr, whose output is visible.
class LogSink : public spdlog::sinks::base_sink<std::mutex> {
protected:
  void sink_it_(const spdlog::details::log_msg& message) override {
    spdlog::memory_buf_t formatted;
    formatter_->format(message, formatted);
    std::string line(formatted.data(), formatted.size());
    cut_secrets(line);
    // So that no text within the message looks like a message.
    for (std::size_t end = line.find('\n'); end < line.size() - 1; end = line.find('\n', end + 1)) {
      line.insert(end + 1, "  ");
    }
    if (is_terminal_) { // the message replaces the status line of a run, which is then drawn again
      std::cerr << erase_line;
    }
    std::cerr << line << std::flush;
  }
  void flush_() override { std::cerr.flush(); }

private:
  const bool is_terminal_ = stderr_is_terminal();
};

} // namespace

void start_log(const std::string& level) {
  auto logger = std::make_shared<spdlog::logger>("winnow", std::make_shared<LogSink>());
  logger->set_pattern(stderr_is_terminal() ? "%H:%M:%S %l: %v" : "%Y-%m-%dT%H:%M:%S.%e %l: %v");
  logger->set_level(spdlog::level::from_str(level));
  spdlog::set_default_logger(std::move(logger));
}

} // namespace winnow::harness
