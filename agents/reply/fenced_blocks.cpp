#include "agents/reply/fenced_blocks.h"

#include "agents/reply/fence_line.h"
#include "base/text.h"

#include <algorithm>
#include <iterator>

namespace winnow::agents {
namespace {

constexpr std::size_t kMaxWrappers = 4;

/// Whether the blocks inside a block stand for it.
bool is_wrapper(std::string_view language, const std::vector<FencedBlock>& inner) {
  return language == "markdown" || language == "md" ||
         std::any_of(inner.begin(), inner.end(), [](const FencedBlock& block) {
           return block.text.find("@winnow") != std::string::npos;
         });
}

/// The length of the text before a fence in it that closes nothing; npos: there is none.
std::size_t before_shorter_fence(std::string_view text) {
  std::size_t at = 0;
  for (const std::string_view line : split_lines(text)) {
    const auto fence = opening_fence(line);
    if (fence && fence->bare && trim(line).front() == fence->mark) {
      return at;
    }
    at += line.size() + 1;
  }
  return std::string_view::npos;
}

/// Splits a text into blocks. With `nesting`, a fence with a language inside a block opens an
/// inner block. Without, such a fence ends the open block, which lacks its closing fence, and
/// begins the next block.
class BlockReader {
public:
  BlockReader(bool nesting, std::size_t wrappers) : nesting_(nesting), wrappers_(wrappers) {}

  /// False if the text ended inside a block that contains other blocks: then nesting was a wrong
  /// guess. `offset` is the place of the text in the whole.
  bool read(std::string_view text, std::size_t offset) {
    text_ = text;
    offset_ = offset;
    for (const std::string_view line : split_lines(text)) {
      line_begin_ = static_cast<std::size_t>(line.data() - text.data());
      line_end_ = std::min(line_begin_ + line.size() + 1, text.size());
      take(line);
    }
    if (open_.empty()) {
      return true;
    }
    const bool sound = !nested_;
    finish(false, text.size(), text.size());
    return sound;
  }
  std::vector<FencedBlock> blocks;

private:
  void take(std::string_view line) {
    if (open_.empty()) {
      if (const auto fence = opening_fence(line)) {
        begin(*fence);
      }
      return;
    }
    line = without_quote(line, open_.front());
    if (const auto closing = closing_fence(line, open_.back())) {
      if (!closing->code.empty()) {
        append(closing->code);
      }
      close();
      return;
    }
    const auto fence = inner_fence(line);
    if (!fence) {
      append(line);
    } else if (nesting_) {
      nested_ = true;
      open_.push_back(*fence);
    } else {
      finish(true, line_begin_, line_begin_);
      begin(*fence);
    }
  }

  /// A fence with a language that begins a line inside a block.
  std::optional<Fence> inner_fence(std::string_view line) const {
    const std::size_t first = line.find_first_not_of(" \t");
    const auto fence =
        first != line.npos && line[first] == open_.back().mark ? opening_fence(line) : std::nullopt;
    return fence && !fence->bare ? fence : std::nullopt;
  }

  void begin(const Fence& fence) {
    open_ = {fence};
    nested_ = false;
    has_text_ = false;
    block_ = {};
    block_.begin = offset_ + line_begin_;
    content_begin_ = line_end_;
    if (!fence.code.empty()) {
      append(fence.code);
    }
  }
  void close() {
    if (open_.size() > 1) {
      open_.pop_back();
    } else {
      finish(true, line_begin_, line_end_);
    }
  }
  void append(std::string_view line) {
    const std::size_t spaces = std::min(line.find_first_not_of(' '), line.size());
    if (!has_text_ && spaces < line.size()) {
      has_text_ = true;
      // A list indents its lines, but models forget it: the first line decides.
      open_.front().indent = std::min(open_.front().indent, spaces);
    }
    block_.text.append(line.substr(std::min(spaces, open_.front().indent))).push_back('\n');
  }
  void finish(bool closed, std::size_t content_end, std::size_t end) {
    block_.language = open_.front().language;
    block_.closed = closed;
    block_.end = offset_ + end;
    open_.clear();
    if (const std::size_t at = closed ? std::string::npos : before_shorter_fence(block_.text);
        at != std::string::npos) {
      block_.text.resize(at);
      block_.closed = true;
    }
    if (wrappers_ < kMaxWrappers) {
      BlockReader inner(nesting_, wrappers_ + 1);
      const std::size_t begin = std::min(content_begin_, content_end);
      inner.read(text_.substr(begin, content_end - begin), offset_ + begin);
      if (!inner.blocks.empty() && is_wrapper(block_.language, inner.blocks)) {
        std::move(inner.blocks.begin(), inner.blocks.end(), std::back_inserter(blocks));
        return;
      }
    }
    blocks.push_back(std::move(block_));
  }

  bool nesting_;
  std::size_t wrappers_;
  std::string_view text_;
  std::size_t offset_ = 0, line_begin_ = 0, line_end_ = 0, content_begin_ = 0;
  std::vector<Fence> open_; ///< innermost last
  bool nested_ = false;     ///< the outermost open block has contained another block
  bool has_text_ = false;   ///< block_ has a line that is not blank
  FencedBlock block_;       ///< the outermost open block, without the fences inside it
};

} // namespace

std::vector<FencedBlock> fenced_blocks(std::string_view text) {
  BlockReader nested(true, 0);
  if (nested.read(text, 0)) {
    return std::move(nested.blocks);
  }
  BlockReader flat(false, 0);
  flat.read(text, 0);
  return std::move(flat.blocks);
}

} // namespace winnow::agents
