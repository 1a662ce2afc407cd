#include "agents/fenced_blocks.h"

#include "base/text.h"

#include <algorithm>
#include <cctype>
#include <optional>

namespace winnow::agents {
namespace {

constexpr std::size_t kFenceLength = 3;
constexpr std::size_t kMaxMarkdownDepth = 4;

struct Fence {
  char mark = '`';
  std::size_t length = 0;
  std::size_t indent = 0;
  std::string language;
  bool bare = true; ///< no text after the marks: the line may close a block
};

std::optional<Fence> fence_of(std::string_view line) {
  const std::size_t indent = line.find_first_not_of(" \t");
  if (indent == std::string_view::npos || (line[indent] != '`' && line[indent] != '~')) {
    return std::nullopt;
  }
  Fence fence;
  fence.indent = indent;
  fence.mark = line[indent];
  const std::string_view rest = line.substr(indent);
  fence.length = std::min(rest.find_first_not_of(fence.mark), rest.size());
  const std::string_view info = trim(rest.substr(fence.length));
  // ```x``` on one line is inline code.
  if (fence.length < kFenceLength || info.find('`') != std::string_view::npos) {
    return std::nullopt;
  }
  fence.bare = info.empty();
  fence.language = info.substr(0, info.find_first_of(" \t{,:"));
  std::transform(fence.language.begin(), fence.language.end(), fence.language.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return fence;
}

bool is_markdown(std::string_view language) {
  return language == "markdown" || language == "md";
}

/// Splits a reply into blocks. With `nesting`, a fence with a language inside a block opens an
/// inner block. Without, such a fence ends the open block, which lacks its closing fence, and
/// begins the next block.
class BlockReader {
public:
  BlockReader(bool nesting, std::size_t markdown_depth)
      : nesting_(nesting), markdown_depth_(markdown_depth) {}

  /// False if the reply ended inside a block that contains other blocks: then nesting was a wrong
  /// guess.
  bool read(std::string_view reply) {
    for (std::string_view line : split_lines(reply)) {
      if (!line.empty() && line.back() == '\r') {
        line.remove_suffix(1);
      }
      take(line);
    }
    if (open_.empty()) {
      return true;
    }
    const bool sound = !nested_;
    finish(false);
    return sound;
  }
  std::vector<FencedBlock> blocks;

private:
  void take(std::string_view line) {
    const auto fence = fence_of(line);
    if (open_.empty()) {
      if (fence) {
        begin(*fence);
      }
      return;
    }
    if (!fence || fence->mark != open_.back().mark) {
      append(line);
    } else if (fence->bare && fence->length >= open_.back().length) {
      close(line);
    } else if (fence->bare) {
      append(line);
    } else if (nesting_) {
      nested_ = true;
      open_.push_back(*fence);
      append_raw(line);
    } else {
      finish(true);
      begin(*fence);
    }
  }

  void begin(const Fence& fence) {
    open_ = {fence};
    nested_ = false;
    text_.clear();
    raw_.clear();
  }
  void close(std::string_view line) {
    if (open_.size() == 1) {
      finish(true);
      return;
    }
    open_.pop_back();
    append_raw(line);
  }
  void append(std::string_view line) {
    const std::size_t spaces = std::min(line.find_first_not_of(' '), line.size());
    text_.append(line.substr(std::min(spaces, open_.front().indent))).push_back('\n');
    append_raw(line);
  }
  // Keeps the raw lines of a markdown block only, because its inner fences are parsed later.
  void append_raw(std::string_view line) {
    if (is_markdown(open_.front().language)) {
      raw_.append(line).push_back('\n');
    }
  }
  void finish(bool closed) {
    const std::string language = open_.front().language;
    open_.clear();
    if (is_markdown(language) && markdown_depth_ < kMaxMarkdownDepth) {
      BlockReader inner(nesting_, markdown_depth_ + 1);
      inner.read(raw_);
      if (!inner.blocks.empty()) {
        std::move(inner.blocks.begin(), inner.blocks.end(), std::back_inserter(blocks));
        return;
      }
    }
    blocks.push_back({language, std::move(text_), closed});
    text_.clear();
  }

  bool nesting_;
  std::size_t markdown_depth_;
  std::vector<Fence> open_; ///< innermost last
  bool nested_ = false;     ///< the outermost open block has contained another block
  std::string text_;        ///< text of the outermost open block, without the fences inside it
  std::string raw_;         ///< the same with these fences
};

} // namespace

std::vector<FencedBlock> fenced_blocks(std::string_view reply) {
  BlockReader nested(true, 0);
  if (nested.read(reply)) {
    return std::move(nested.blocks);
  }
  BlockReader flat(false, 0);
  flat.read(reply);
  return std::move(flat.blocks);
}

} // namespace winnow::agents
