#include "evaluators/device/cuda/compile/ptx_writes.h"

#include "base/text.h"

#include <algorithm>
#include <cstddef>
#include <unordered_map>
#include <vector>

namespace winnow::evaluators {
namespace {

constexpr std::size_t kNone = std::string_view::npos;

bool is_name_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == '$' || c == '%' ||
         c == '.';
}

/// Splits PTX into words (names, registers, "st.global.u32") and single characters; white space,
/// comments, numbers and quoted text are left out.
class Lexer {
public:
  explicit Lexer(std::string_view text) : text_(text) {}

  // Empty at the end.
  std::string_view next() {
    while (at_ < text_.size()) {
      const char c = text_[at_];
      if (is_name_letter(c)) {
        return take([](char d) { return is_name_letter(d) || is_digit(d); });
      }
      if (is_digit(c)) { // "0f40C00000" too
        take([](char d) { return is_name_letter(d) || is_digit(d); });
      } else if (c == '"') {
        skip_past("\"");
      } else if (text_.substr(at_, 2) == "//") {
        skip_past("\n");
      } else if (text_.substr(at_, 2) == "/*") {
        ++at_;
        skip_past("*/");
      } else if (c == ' ' || (c >= '\t' && c <= '\r') || c == '\0') {
        ++at_;
      } else {
        return text_.substr(at_++, 1);
      }
    }
    return {};
  }

private:
  template <class Predicate> std::string_view take(Predicate belongs) {
    const std::size_t begin = at_;
    while (at_ < text_.size() && belongs(text_[at_])) {
      ++at_;
    }
    return text_.substr(begin, at_ - begin);
  }

  void skip_past(std::string_view end) {
    const std::size_t found = text_.find(end, at_ + 1);
    at_ = found == kNone ? text_.size() : found + end.size();
  }

  std::string_view text_;
  std::size_t at_ = 0;
};

bool is_one_of(std::string_view word, std::initializer_list<std::string_view> list) {
  return std::find(list.begin(), list.end(), word) != list.end();
}

std::string_view operation_of(std::string_view opcode) {
  return opcode.substr(0, opcode.find('.'));
}

// The result is made of the operands: an address in them may be one in it.
bool computes(std::string_view operation) {
  return is_one_of(operation, {"abs",  "add",  "addc", "and",  "bfe",  "bfi",   "cnot", "cvt",
                               "cvta", "fma",  "lop3", "mad",  "max",  "min",   "mov",  "mul",
                               "neg",  "not",  "or",   "prmt", "rem",  "selp",  "shf",  "shl",
                               "shr",  "shfl", "slct", "sub",  "subc", "szext", "xor"});
}

// Addresses in the operands neither are written to nor get any further.
bool only_reads(std::string_view operation) {
  return is_one_of(operation, {"ld", "ldu", "prefetch", "prefetchu", "setp", "set", "isspacep",
                               "bar", "barrier", "bra", "ret", "exit", "trap", "membar", "fence"});
}

class PtxWrites {
public:
  explicit PtxWrites(std::string_view ptx) : lexer_(ptx) {}

  std::set<std::string> run() {
    for (std::string_view word = lexer_.next(); !word.empty(); word = lexer_.next()) {
      take(word);
    }
    write_all(arguments_);
    return globals_that_reach_a_write();
  }

private:
  void take(std::string_view word) {
    if (word == "{" && opens_scope()) {
      if (depth_++ == 0) {
        begin_function();
      }
      statement_.clear();
    } else if (word == "{") {
      ++braces_;
    } else if (word == "}" && braces_ > 0) {
      --braces_;
    } else if (word == "}") {
      depth_ -= depth_ > 0 ? 1 : 0;
      statement_.clear();
    } else if (word == ";") {
      end_statement();
    } else if (word == ":") { // a label
      statement_.clear();
    } else {
      statement_.push_back(word);
    }
  }

  // Other braces are vectors of operands and initial values.
  bool opens_scope() const {
    return braces_ == 0 &&
           (depth_ == 0 ? std::find(statement_.begin(), statement_.end(), "=") == statement_.end()
                        : statement_.empty());
  }

  void begin_function() {
    write_all(arguments_);
    ++function_;
    for (const std::string_view word : statement_) {
      printf_is_ours_ = printf_is_ours_ || is_printf(word);
    }
  }

  void end_statement() {
    braces_ = 0;
    if (depth_ == 0) {
      declare();
    } else {
      execute();
    }
    statement_.clear();
  }

  static bool is_printf(std::string_view word) {
    return is_one_of(word, {"vprintf", "__assertfail"});
  }

  void declare() {
    const auto equals = std::find(statement_.begin(), statement_.end(), "=");
    if (std::find(statement_.begin(), equals, ".global") == equals) {
      return;
    }
    for (auto word = equals; word != statement_.begin();) {
      --word;
      if (is_name_letter(word->front()) && word->front() != '.') {
        globals_[std::string(*word)] = node(*word);
        break;
      }
    }
    for (auto word = equals; word != statement_.end(); ++word) { // addresses kept in memory
      write(*word);
    }
  }

  void execute() {
    const auto opcode = std::find_if(statement_.begin(), statement_.end(), [](std::string_view w) {
      return w.front() >= 'a' && w.front() <= 'z';
    });
    if (opcode == statement_.end()) {
      return;
    }
    std::vector<std::string_view> operands;
    std::copy_if(opcode + 1, statement_.end(), std::back_inserter(operands),
                 [](std::string_view w) { return is_name_letter(w.front()) && w.front() != '.'; });
    const std::string_view operation = operation_of(*opcode);
    if (operation == "call") {
      end_call(operands);
    } else if (opcode->rfind("st.param", 0) == 0 && !returns_value(operands)) {
      arguments_.insert(arguments_.end(), operands.begin(), operands.end());
    } else if (opcode->rfind("st.local", 0) == 0 && !operands.empty()) {
      write(operands.front());
      for (const std::string_view operand : operands) {
        kept_.push_back(node(operand));
      }
    } else if (computes(operation)) {
      compute(operation, operands);
    } else if (!only_reads(operation)) {
      write_all(operands);
    }
  }

  void end_call(std::vector<std::string_view>& operands) {
    const bool prints =
        !printf_is_ours_ && std::any_of(operands.begin(), operands.end(), &PtxWrites::is_printf);
    if (prints) {
      arguments_.clear();
      return;
    }
    write_all(operands);
    write_all(arguments_);
  }

  static bool returns_value(const std::vector<std::string_view>& operands) {
    return !operands.empty() && operands.front().rfind("func_retval", 0) == 0;
  }

  // The first operand is the result, of moves perhaps a vector of them: to take operands for
  // results too does no harm.
  void compute(std::string_view operation, std::vector<std::string_view>& operands) {
    if (operands.size() > kMaxOperands) {
      write_all(operands);
      return;
    }
    const std::size_t results = operation == "mov" ? operands.size() : 1;
    for (std::size_t i = 0; i < std::min(results, operands.size()); ++i) {
      for (const std::string_view operand : operands) {
        const std::size_t source = node(operand);
        sources_[node(operands[i])].push_back(source);
      }
    }
  }

  void write_all(std::vector<std::string_view>& words) {
    for (const std::string_view word : words) {
      write(word);
    }
    words.clear();
  }

  void write(std::string_view word) {
    if (is_name_letter(word.front())) {
      written_.push_back(node(word));
    }
  }

  // Registers are of a function, other names of the module.
  std::size_t node(std::string_view word) {
    const std::string name =
        word.front() == '%' ? std::to_string(function_) + std::string(word) : std::string(word);
    const std::size_t number = nodes_.emplace(name, nodes_.size()).first->second;
    if (number >= sources_.size()) {
      sources_.resize(number + 1);
    }
    return number;
  }

  std::set<std::string> globals_that_reach_a_write() {
    const std::vector<bool> written = all_sources(written_);
    const std::vector<bool> kept = all_sources(kept_);
    std::set<std::string> names;
    for (const auto& [name, number] : globals_) {
      if (written[number] || (kept[number] && name.rfind(kLiteral, 0) != 0)) {
        names.insert(name);
      }
    }
    return names;
  }

  std::vector<bool> all_sources(std::vector<std::size_t> nodes) const {
    std::vector<bool> reached(sources_.size(), false);
    while (!nodes.empty()) {
      const std::size_t one = nodes.back();
      nodes.pop_back();
      if (!reached[one]) {
        reached[one] = true;
        nodes.insert(nodes.end(), sources_[one].begin(), sources_[one].end());
      }
    }
    return reached;
  }

  // The compiler's names of text literals; printf finds them in local memory.
  static constexpr std::string_view kLiteral = "$str";
  static constexpr std::size_t kMaxOperands = 16;

  Lexer lexer_;
  std::vector<std::string_view> statement_;
  std::vector<std::string_view> arguments_; // of the call that is being prepared
  std::size_t function_ = 0;
  std::size_t depth_ = 0;
  std::size_t braces_ = 0;
  bool printf_is_ours_ = false; // the candidate has defined a function of that name
  std::unordered_map<std::string, std::size_t> nodes_;
  std::unordered_map<std::string, std::size_t> globals_;
  std::vector<std::vector<std::size_t>> sources_;
  std::vector<std::size_t> written_;
  std::vector<std::size_t> kept_; // their address is put into local memory
};

} // namespace

std::set<std::string> written_globals(std::string_view ptx) {
  return PtxWrites(ptx).run();
}

} // namespace winnow::evaluators
