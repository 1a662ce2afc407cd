#include "harness/report/visible_output.h"

#include "base/text.h"
#include "harness/report/terminal.h"

#include <algorithm>
#include <iostream>
#include <mutex>
#include <streambuf>
#include <string>
#include <utility>

namespace winnow::harness {
namespace {

constexpr std::string_view kEraseLine = "\r\x1b[K";
constexpr std::string_view kLineEnd = "\r\n"; // of CSV

/// The bytes at the end of `text` that the next write may complete: the beginning of a character or
/// of a line end.
std::size_t unfinished_bytes(std::string_view text) {
  if (text.ends_with('\r')) {
    return 1;
  }
  for (std::size_t size = 1; size <= std::min<std::size_t>(text.size(), 3); ++size) {
    const auto byte = static_cast<unsigned char>(text[text.size() - size]);
    const std::size_t wanted = byte >= 0xF0U ? 4 : byte >= 0xE0U ? 3 : byte >= 0xC0U ? 2 : 1;
    if (byte >= 0xC0U || byte < 0x80U) {
      return wanted > size ? size : 0;
    }
  }
  return 0;
}

std::string visible_lines(std::string_view text) {
  std::string shown;
  for (std::size_t end = text.find(kLineEnd); end != std::string_view::npos;
       end = text.find(kLineEnd)) {
    shown += visible(text.substr(0, end));
    shown += kLineEnd;
    text.remove_prefix(end + kLineEnd.size());
  }
  return shown + visible(text);
}

} // namespace

/// Several threads may write.
class VisibleOutput::Buffer : public std::streambuf {
public:
  explicit Buffer(std::ostream& stream) : stream_(stream), target_(*stream.rdbuf(this)) {}
  ~Buffer() override {
    write(visible(unfinished_));
    stream_.rdbuf(&target_);
  }

  bool write_unchanged(std::string_view bytes) {
    const std::lock_guard lock(mutex_);
    return write(visible(std::exchange(unfinished_, {}))) && write(bytes);
  }
  bool has_begun() {
    const std::lock_guard lock(mutex_);
    return has_begun_ || !unfinished_.empty();
  }

protected:
  std::streamsize xsputn(const char* bytes, std::streamsize size) override {
    const std::lock_guard lock(mutex_);
    unfinished_.append(bytes, static_cast<std::size_t>(size));
    const std::string_view all = unfinished_;
    const std::size_t whole = all.size() - unfinished_bytes(all);
    const bool is_written = write(visible_lines(all.substr(0, whole)));
    unfinished_.erase(0, whole);
    return is_written ? size : 0;
  }
  int_type overflow(int_type character) override {
    const char byte = traits_type::to_char_type(character);
    return xsputn(&byte, 1) == 1 ? character : traits_type::eof();
  }
  int sync() override {
    const std::lock_guard lock(mutex_);
    return target_.pubsync();
  }

private:
  bool write(std::string_view bytes) {
    const auto size = static_cast<std::streamsize>(bytes.size());
    has_begun_ = has_begun_ || size > 0;
    return target_.sputn(bytes.data(), size) == size;
  }

  std::ostream& stream_;
  std::streambuf& target_;
  std::mutex mutex_;
  std::string unfinished_;
  bool has_begun_ = false;
};

VisibleOutput::VisibleOutput()
    : out_(std::make_unique<Buffer>(std::cout)), err_(std::make_unique<Buffer>(std::cerr)) {}
VisibleOutput::~VisibleOutput() = default;

bool VisibleOutput::has_begun() const {
  return out_->has_begun();
}

std::ostream& erase_line(std::ostream& out) {
  if (auto* buffer = dynamic_cast<VisibleOutput::Buffer*>(out.rdbuf())) {
    buffer->write_unchanged(kEraseLine);
    return out;
  }
  return out << kEraseLine;
}

void print_file(std::string_view bytes) {
  auto* buffer = dynamic_cast<VisibleOutput::Buffer*>(std::cout.rdbuf());
  if (buffer == nullptr || stdout_is_terminal()) {
    std::cout << bytes;
  } else if (!buffer->write_unchanged(bytes)) {
    std::cout.setstate(std::ios::badbit);
  }
}

} // namespace winnow::harness
