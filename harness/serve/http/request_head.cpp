#include "harness/serve/http/request_head.h"

#include "base/text.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>
#include <vector>

namespace winnow::harness {
namespace {

constexpr std::string_view kLineEnd = "\r\n";
constexpr std::size_t kMaxFields = 128;
constexpr std::size_t kMaxLengthDigits = 18; // of a body's length

char lower(char c) {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}

bool is_same_word(std::string_view text, std::string_view word) {
  return std::equal(text.begin(), text.end(), word.begin(), word.end(),
                    [](char a, char b) { return lower(a) == lower(b); });
}

bool is_token(std::string_view text) {
  constexpr std::string_view kMarks = "!#$%&'*+-.^_`|~";
  return !text.empty() && std::all_of(text.begin(), text.end(), [&](char c) {
    return (lower(c) >= 'a' && lower(c) <= 'z') || (c >= '0' && c <= '9') ||
           kMarks.find(c) != std::string_view::npos;
  });
}

bool is_blank(char c) {
  return c == ' ' || c == '\t';
}

std::string_view without_blanks(std::string_view text) {
  while (!text.empty() && is_blank(text.front())) {
    text.remove_prefix(1);
  }
  while (!text.empty() && is_blank(text.back())) {
    text.remove_suffix(1);
  }
  return text;
}

std::vector<std::string_view> lines_of(std::string_view text) {
  std::vector<std::string_view> lines;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(kLineEnd), text.size());
    lines.push_back(text.substr(0, end));
    text.remove_prefix(std::min(end + kLineEnd.size(), text.size()));
  }
  return lines;
}

/// Whether some reader could take the line for the field `name`, as "Transfer-Encoding\t: x".
bool may_be_field(std::string_view line, std::string_view name) {
  const std::size_t colon = line.find(':');
  return is_same_word(trim(line.substr(0, colon)), name);
}

/// The fields of a request, each of which may come once.
struct Fields {
  std::optional<std::string_view> authorization, host, origin, length, encoding, expect, connection;

  std::optional<std::string_view>* find(std::string_view name) {
    const std::array<std::pair<std::string_view, std::optional<std::string_view>*>, 7> all{
        {{"authorization", &authorization},
         {"host", &host},
         {"origin", &origin},
         {"content-length", &length},
         {"transfer-encoding", &encoding},
         {"expect", &expect},
         {"connection", &connection}}};
    const auto known = std::find_if(
        all.begin(), all.end(), [&](const auto& field) { return is_same_word(name, field.first); });
    return known == all.end() ? nullptr : known->second;
  }
};

bool has_word(std::string_view list, std::string_view word) {
  for (bool more = true; more;) {
    const std::size_t comma = list.find(',');
    if (is_same_word(without_blanks(list.substr(0, comma)), word)) {
      return true;
    }
    more = comma != std::string_view::npos;
    list.remove_prefix(more ? comma + 1 : list.size());
  }
  return false;
}

class HeadParser {
public:
  explicit HeadParser(std::string_view text) : lines_(lines_of(text)) {}

  std::variant<RequestHead, HeadProblem> parse() {
    if (!read_request_line() || !read_fields() || !has_one_host() || !read_body_end()) {
      return problem_;
    }
    head_.request.authorization = fields_.authorization.value_or("");
    head_.request.host = fields_.host.value_or("");
    head_.request.origin = fields_.origin.value_or("");
    head_.expects_continue =
        is_newest_ && is_same_word(fields_.expect.value_or(""), "100-continue");
    const std::string_view connection = fields_.connection.value_or("");
    head_.keep_alive =
        is_newest_ ? !has_word(connection, "close") : has_word(connection, "keep-alive");
    return head_;
  }

private:
  bool fail(int status, std::string error) {
    problem_ = {status, std::move(error)};
    return false;
  }

  bool read_request_line() {
    const std::string_view line = lines_.empty() ? std::string_view() : lines_.front();
    const std::size_t first = line.find(' '), last = line.rfind(' ');
    if (first == std::string_view::npos || first == last) {
      return fail(400, "this is no HTTP request");
    }
    const std::string_view method = line.substr(0, first), version = line.substr(last + 1);
    const std::string_view target = line.substr(first + 1, last - first - 1);
    const bool is_plain =
        std::all_of(target.begin(), target.end(), [](char c) { return c > ' ' && c < '\x7f'; });
    is_newest_ = version == "HTTP/1.1";
    if (!is_token(method) || !is_plain || target.empty() ||
        (!is_newest_ && version != "HTTP/1.0")) {
      return fail(400, "this is no HTTP request");
    }
    head_.request.method = method;
    head_.request.target = target;
    return true;
  }

  bool read_fields() {
    if (lines_.size() > kMaxFields + 2) { // the request line and the empty line
      return fail(431, "the header has more than 128 fields");
    }
    if (!has_plain_encoding()) {
      return fail(501,
                  "this server knows Transfer-Encoding: chunked alone, without Content-Length");
    }
    return std::all_of(lines_.begin() + 1, lines_.end(),
                       [&](std::string_view line) { return line.empty() || read_field(line); });
  }

  /// Looks at the lines as the most lenient reader would.
  bool has_plain_encoding() const {
    std::size_t encodings = 0, lengths = 0;
    bool is_plain = true;
    for (std::size_t i = 1; i < lines_.size(); ++i) {
      lengths += may_be_field(lines_[i], "content-length") ? 1 : 0;
      if (!may_be_field(lines_[i], "transfer-encoding")) {
        continue;
      }
      ++encodings;
      const std::size_t colon = lines_[i].find(':');
      is_plain = is_plain && colon == std::string_view("transfer-encoding").size() &&
                 is_same_word(without_blanks(lines_[i].substr(colon + 1)), "chunked");
      const bool is_folded =
          i + 1 < lines_.size() && !lines_[i + 1].empty() && is_blank(lines_[i + 1].front());
      is_plain = is_plain && !is_folded;
    }
    return encodings == 0 || (encodings == 1 && is_plain && lengths == 0 && is_newest_);
  }

  bool read_field(std::string_view line) {
    const std::size_t colon = line.find(':');
    if (colon == std::string_view::npos || !is_token(line.substr(0, colon)) ||
        !is_field_text(line.substr(colon + 1))) {
      return fail(400, "a field of the header is malformed");
    }
    std::optional<std::string_view>* field = fields_.find(line.substr(0, colon));
    if (field != nullptr && field->has_value()) {
      return fail(400, "a field of the header comes twice");
    }
    if (field != nullptr) {
      *field = without_blanks(line.substr(colon + 1));
    }
    return true;
  }

  /// RFC 9112, section 3.2. read_field() has refused a second one.
  bool has_one_host() {
    if (is_newest_ && !fields_.host) {
      return fail(400, "the header has no Host, which HTTP/1.1 requires");
    }
    const std::string_view host = fields_.host.value_or("");
    const bool is_plain = std::all_of(host.begin(), host.end(), [](char c) {
      return c > ' ' && c < '\x7f' &&
             std::string_view("\"#/<>?@\\^`{|}").find(c) == std::string_view::npos;
    });
    return is_plain || fail(400, "the Host of the header is malformed");
  }

  bool read_body_end() {
    if (fields_.encoding) {
      head_.body_end = BodyEnd::Chunks;
    }
    if (!fields_.length) {
      return true;
    }
    const std::string_view digits = *fields_.length;
    const bool are_digits =
        !digits.empty() && digits.find_first_not_of("0123456789") == std::string_view::npos;
    if (!are_digits) {
      return fail(400, "Content-Length is no number");
    }
    if (digits.size() > kMaxLengthDigits) {
      return fail(413, "the body is too long");
    }
    std::from_chars(digits.data(), digits.data() + digits.size(), head_.length);
    head_.body_end = head_.length > 0 ? BodyEnd::Length : BodyEnd::None;
    return true;
  }

  std::vector<std::string_view> lines_;
  Fields fields_;
  RequestHead head_;
  HeadProblem problem_;
  bool is_newest_ = false; ///< HTTP/1.1
};

} // namespace

bool is_field_text(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](char c) {
    const auto byte = static_cast<unsigned char>(c);
    return c == '\t' || (byte >= 0x20 && byte != 0x7f);
  });
}

std::variant<RequestHead, HeadProblem> parse_request_head(std::string_view text) {
  return HeadParser(text).parse();
}

} // namespace winnow::harness
