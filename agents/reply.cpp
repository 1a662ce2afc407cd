#include "agents/reply.h"

#include "agents/fenced_blocks.h"
#include "agents/reply_text.h"
#include "base/text.h"

#include <algorithm>
#include <vector>

#include <fmt/format.h>

namespace winnow::agents {
namespace {

constexpr std::string_view kHowToWriteAPlan =
    "put the device code and its launch plan into one fenced block that begins with the plan "
    "comment: /*@winnow {\"launches\": [{\"kernel\": \"name\", \"grid\": [...], \"block\": [...], "
    "\"args\": [...]}]} @*/";

ExtractedKernel problem(std::string what) {
  return {std::nullopt, std::move(what), {}};
}
ExtractedKernel found(std::string text, std::string note) {
  return {std::move(text), {}, std::move(note)};
}

bool has_device_code(std::string_view text) {
  return text.find("__global__") != std::string_view::npos;
}

/// A block of the reply and its possible use.
struct Part {
  enum class Kind { Other, Kernel, PlanOnly, CodeOnly, OpenPlan };
  Kind kind = Kind::Other;
  std::size_t number = 0; ///< counts from 1
  std::string text;
  bool closed = true;
  bool json = false; ///< PlanOnly: the block is JSON without the comment around it
};

Part::Kind kind_of(const FencedBlock& block, bool& json) {
  const PlanComment plan = find_plan(block.text);
  if (plan.exists() && !plan.closed()) {
    return Part::Kind::OpenPlan;
  }
  if (plan.exists()) {
    const std::string_view text = block.text;
    return has_device_code(text.substr(0, plan.begin)) || has_device_code(text.substr(plan.end))
               ? Part::Kind::Kernel
               : Part::Kind::PlanOnly;
  }
  if (has_device_code(block.text)) {
    return Part::Kind::CodeOnly;
  }
  const std::string_view trimmed = trim(block.text);
  json = !trimmed.empty() && trimmed.front() == '{' &&
         trimmed.find("\"launches\"") != std::string_view::npos;
  return json ? Part::Kind::PlanOnly : Part::Kind::Other;
}

std::vector<Part> parts_of(std::vector<FencedBlock> blocks) {
  std::vector<Part> parts;
  for (FencedBlock& block : blocks) {
    Part part;
    part.kind = kind_of(block, part.json);
    part.number = parts.size() + 1;
    part.text = std::move(block.text);
    part.closed = block.closed;
    parts.push_back(std::move(part));
  }
  return parts;
}

/// Further parts make a reply no less wrong, and comparing a very large number of them would take
/// too long.
constexpr std::size_t kMaxDistinct = 16;

/// Different parts of a kind. Equal texts count once.
std::vector<const Part*> distinct(const std::vector<Part>& parts, Part::Kind kind) {
  std::vector<const Part*> chosen;
  for (const Part& part : parts) {
    if (part.kind != kind || chosen.size() == kMaxDistinct) {
      continue;
    }
    const bool repeated = std::any_of(chosen.begin(), chosen.end(), [&](const Part* other) {
      return trim(other->text) == trim(part.text);
    });
    if (!repeated) {
      chosen.push_back(&part);
    }
  }
  return chosen;
}

/// Whether the numbers of opening and closing braces are equal. In truncated code they hardly ever
/// are.
bool braces_balance(std::string_view text) {
  return std::count(text.begin(), text.end(), '{') == std::count(text.begin(), text.end(), '}');
}

std::string cut_off(std::string_view where, std::string_view finish_reason) {
  const bool limit = finish_reason == "length" || finish_reason == "max_tokens";
  return fmt::format(
      "the reply ends inside {}: {}; expected one complete kernel file, so write less "
      "prose and shorter code",
      where, limit ? "the token limit cut it off" : "perhaps the token limit cut it off");
}

ExtractedKernel from_bare_text(std::string_view reply, std::string_view finish_reason) {
  const PlanComment plan = find_plan(reply);
  if (!plan.exists()) {
    return has_device_code(reply)
               ? problem(fmt::format(
                     "the reply has device code, but no fenced block and no launch plan; {}",
                     kHowToWriteAPlan))
               : problem(fmt::format("no code block in the reply; {}", kHowToWriteAPlan));
  }
  if (!plan.closed()) {
    return problem(cut_off("the plan comment /*@winnow", finish_reason));
  }
  if (!has_device_code(reply.substr(plan.end))) {
    return problem(
        "the reply holds a launch plan but no device code (no __global__ function); send "
        "both in one fenced block");
  }
  std::string text(reply.substr(plan.begin));
  text.erase(std::remove(text.begin(), text.end(), '\r'), text.end());
  return found(std::move(text),
               "the reply has no fenced block; took the text from the plan to the end");
}

ExtractedKernel take_kernel(const Part& part, std::size_t blocks, std::string_view finish_reason) {
  if (!part.closed && (finish_reason == "length" || !braces_balance(part.text))) {
    return problem(cut_off("a code block", finish_reason));
  }
  if (!part.closed) {
    return found(part.text,
                 "the code block has no closing fence; took the text up to the end of the reply");
  }
  return found(part.text,
               blocks == 1
                   ? std::string()
                   : fmt::format("took block {} of {}: only this block has a plan and device code",
                                 part.number, blocks));
}

ExtractedKernel combine(const Part& plan, const Part& code, std::string_view finish_reason) {
  if ((!plan.closed || !code.closed) &&
      (finish_reason == "length" || !braces_balance(plan.text) || !braces_balance(code.text))) {
    return problem(cut_off("a code block", finish_reason));
  }
  const std::string_view trimmed = trim(plan.text);
  std::string text =
      plan.json ? fmt::format("/*@winnow\n{}\n@*/\n", trimmed) : fmt::format("{}\n", trimmed);
  return found(text + code.text,
               fmt::format("joined the plan in block {} and the device code in block {} into one "
                           "kernel file",
                           plan.number, code.number));
}

std::string block_numbers(const std::vector<const Part*>& parts) {
  std::vector<std::string> numbers;
  for (const Part* part : parts) {
    numbers.push_back(std::to_string(part->number));
  }
  return join(numbers, ", ");
}

ExtractedKernel without_kernel_block(const std::vector<Part>& parts, std::string_view reply,
                                     std::string_view finish_reason) {
  const auto plans = distinct(parts, Part::Kind::PlanOnly);
  const auto codes = distinct(parts, Part::Kind::CodeOnly);
  if (plans.size() == 1 && codes.size() == 1) {
    return combine(*plans[0], *codes[0], finish_reason);
  }
  if (!parts.back().closed) {
    return problem(cut_off("a code block", finish_reason));
  }
  if (codes.size() > 1) {
    return problem(
        fmt::format("blocks {} have device code, but no block has both device code and a plan; {}",
                    block_numbers(codes), kHowToWriteAPlan));
  }
  if (codes.size() == 1) {
    return problem(
        fmt::format("block {} has device code, but {}; {}", codes[0]->number,
                    plans.empty() ? "there is no launch plan" : "there are several launch plans",
                    kHowToWriteAPlan));
  }
  if (!plans.empty()) {
    return problem(
        "the reply holds a launch plan but no device code (no __global__ function); send "
        "both in one fenced block");
  }
  if (find_plan(reply).exists() && has_device_code(reply)) {
    return from_bare_text(reply, finish_reason);
  }
  return problem(fmt::format(
      "no code block of the reply has device code (no __global__ function); {}", kHowToWriteAPlan));
}

ExtractedKernel extract(std::string_view reply, std::string_view finish_reason) {
  if (reply.size() > kMaxReplyBytes) {
    return problem(fmt::format("the reply has {:.1f} MiB, but Winnow reads at most {} MiB; send "
                               "one kernel file and little else",
                               static_cast<double>(reply.size()) / (1U << 20U),
                               kMaxReplyBytes >> 20U));
  }
  if (!skip_thoughts(reply)) {
    return problem(cut_off("the model's thoughts", finish_reason));
  }
  if (trim(reply).empty()) {
    return problem(finish_reason == "length"
                       ? "the reply is empty: the token limit was reached before the answer began"
                       : "the reply is empty; expected one kernel file in a fenced block");
  }
  const std::vector<Part> parts = parts_of(fenced_blocks(reply));
  if (parts.empty()) {
    return from_bare_text(reply, finish_reason);
  }
  const auto kernels = distinct(parts, Part::Kind::Kernel);
  if (kernels.size() == 1) {
    return take_kernel(*kernels[0], parts.size(), finish_reason);
  }
  if (kernels.size() > 1) {
    return problem(fmt::format("blocks {} hold {} different kernel files; send exactly one",
                               block_numbers(kernels), kernels.size()));
  }
  if (const auto open = distinct(parts, Part::Kind::OpenPlan); !open.empty()) {
    return problem(open[0]->closed && finish_reason != "length"
                       ? fmt::format("the plan comment /*@winnow in block {} is never closed; end "
                                     "the plan with @*/ before the device code",
                                     open[0]->number)
                       : cut_off("the plan comment /*@winnow", finish_reason));
  }
  return without_kernel_block(parts, reply, finish_reason);
}

} // namespace

ReplySchema kernel_reply_schema() {
  return {
      "kernel_reply",
      R"({"type": "object", "additionalProperties": false, "required": ["reasoning", "kernel_file"],
              "properties": {"reasoning": {"type": "string"}, "kernel_file": {"type": "string"}}})"};
}

std::string idea_of(std::string_view reply, std::size_t max_bytes) {
  const std::optional<std::string> reasoning = structured_member(reply, "reasoning");
  std::string_view said = reasoning ? std::string_view(*reasoning) : reply;
  if (!reasoning) {
    if (!skip_thoughts(said)) {
      return "";
    }
    for (const std::string_view kernel : {"```", "~~~", "<<<<<<<", "/*@winnow"}) {
      said = said.substr(0, said.find(kernel));
    }
  }
  std::string line;
  for (const char c : to_valid_utf8(trim(said))) {
    const bool is_space = std::isspace(static_cast<unsigned char>(c)) != 0;
    if (!is_space || !line.ends_with(' ')) {
      line += is_space ? ' ' : c;
    }
  }
  return shortened(line, max_bytes);
}

ExtractedKernel extract_kernel_file(std::string_view reply, std::string_view finish_reason) {
  try {
    if (const auto kernel_file = structured_member(reply, "kernel_file")) {
      return extract(*kernel_file, finish_reason);
    }
    return extract(reply, finish_reason);
    // Only out of memory can cause this; a reply must not end a run.
  } catch (const std::exception& failure) {
    return problem(fmt::format("the reply could not be read: {}", failure.what()));
  }
}

} // namespace winnow::agents
