#include "agents/testing/reply_forms.h"

#include "base/text.h"

#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

namespace winnow::agents {
namespace {

using Words = std::vector<std::string>;

const std::string& one_of(const Words& words, const Draw& draw) {
  return words[draw(words.size())];
}

std::string with_prefix(const std::string& text, const std::string& prefix) {
  std::string all;
  for (const std::string_view line : split_lines(text)) {
    all.append(prefix).append(line).push_back('\n');
  }
  return all;
}

std::string thoughts_with_draft() {
  return "First idea:\n```cuda\n" + kFormKernel + "// draft\n```\nNo, that is slow.\n";
}

/// Thoughts with a draft in them, or nothing.
std::string drawn_thoughts(const Draw& draw) {
  static const std::vector<std::pair<std::string, std::string>> kTags{
      {"", ""}, // no thoughts
      {"<think>\n", "</think>\n"},
      {"<Think>", "</THINK>"},
      {"<thinking>", "</thinking>\n\n"},
      {"<thought>\n", "</thought>\n"},
      {"<reasoning>", "</reasoning>"},
      {"<reflection>", "</reflection>\n"},
      {"[THINK]\n", "[/THINK]\n"},
      {"<mm:think>\n", "</mm:think>\n"},
      {"<seed:think>", "</seed:think>"},
      {"<think>", "</mm:think>\n"},
      {"<think signature=\"abc\">", "</think>"},
      {"\xE2\x97\x81think\xE2\x96\xB7", "\xE2\x97\x81/think\xE2\x96\xB7"},
      {"<|begin_of_thought|>", "<|end_of_thought|>"},
      {"<|START_THINKING|>", "<|END_THINKING|>"},
      {"<pondering>\n", "</pondering>\n"},
      {"<\xE6\x80\x9D\xE8\x80\x83>\n", "</\xE6\x80\x9D\xE8\x80\x83>\n"},
      {"<unused94>thought\n", "<unused95>"},
      {"<|channel|>analysis<|message|>",
       "<|end|><|start|>assistant<|channel|>commentary to=functions.submit<|message|>"},
      {"", "</think>\n"}, // the template has the opening mark
      {"", "[/THINK]"},
      {"<|channel|>analysis<|message|>", "<|end|><|start|>assistant<|channel|>final<|message|>"},
      {"", "<|end|><|start|>assistant<|channel|>final<|message|>"},
      {"analysis", "assistantfinal"},
      {"<|channel>thought\n", "<channel|>"}};
  const auto& [open, close] = kTags[draw(kTags.size())];
  const bool none = open.empty() && close.empty();
  static const Words kWords{"", "I note `</think>` for later.\n", "It is <b>bold</b>.\n",
                            "```\nan open fence\n", "{ \"a\": 1 }\n"};
  // Without an opening mark an open fence would hide where the thoughts end.
  const std::string words = open.empty() ? kWords[draw(3)] : one_of(kWords, draw);
  return none ? "" : open + thoughts_with_draft() + words + close;
}

std::string as_json(const Draw& draw) {
  static const Words kNames{"kernel_file", "kernel", "code"};
  const nlohmann::json object{
      {"reasoning", "Wider loads."},
      {one_of(kNames, draw), draw(2) == 0 ? kFormKernel : "```cuda\n" + kFormKernel + "```\n"}};
  const std::string text = object.dump(draw(2) == 0 ? -1 : 2);
  switch (draw(4)) {
  case 0:
    return text;
  case 1:
    return "```json\n" + text + "\n```\n";
  case 2:
    return "Here is the JSON:\n" + text + "\nI hope it helps.\n";
  default:
    return nlohmann::json{{"name", "submit"}, {"arguments", object}}.dump();
  }
}

std::string in_fence(const Draw& draw) {
  static const Words kFences{"```", "````", "~~~", "``````"};
  static const Words kInfos{
      "cuda", "", "cpp", "c++", "CUDA C++", "cuda title=\"a.cu\"", "{.cuda .x}", "cuda:src/a.cu"};
  const std::string& fence = one_of(kFences, draw);
  return fence + one_of(kInfos, draw) + "\n" + kFormKernel + fence + "\n";
}

std::string drawn_answer(const Draw& draw) {
  const std::string body = kFormKernel.substr(0, kFormKernel.size() - 1);
  switch (draw(16)) {
  case 0:
    return "Here is the kernel: ```cuda\n" + kFormKernel + "```\n";
  case 1:
    return "1. " + with_prefix(in_fence(draw), "   ").substr(3);
  case 2:
    return "- The kernel:\n\n" + with_prefix(in_fence(draw), "  ");
  case 3:
    return "**```cuda**\n" + kFormKernel + "```\n";
  case 4:
    return with_prefix("```cuda\n" + kFormKernel + "```", "> ");
  case 5:
    return "```cuda\n" + body + "```\n";
  case 6:
    return "```cuda\n" + body + "``` That is it.\n";
  case 7:
    return "```cuda\n" + kFormKernel + "``` That is it.\n";
  case 8:
    return "```cuda " + kFormKernel + "```\n";
  case 9:
    return "````markdown\nHere:\n```cuda\n" + kFormKernel + "```\n````\n";
  case 10:
    return "```cuda\n" + kFormKernel; // no closing fence
  case 11:
    return kFormKernel + "```\nThis kernel is bound by memory.\n"; // no opening fence
  case 12:
    return "Sure:\n\n" + kFormKernel;
  case 13:
    return as_json(draw);
  default:
    return in_fence(draw);
  }
}

std::string in_answer_marks(const std::string& answer, const Draw& draw) {
  static const std::vector<std::pair<std::string, std::string>> kMarks{
      {"", ""},
      {"", ""},
      {"<answer>\n", "</answer>"},
      {"<output>", "</output>\n"},
      {"<kernel><![CDATA[\n", "]]></kernel>"},
      {"<|begin_of_solution|>", "<|end_of_solution|>"}};
  const auto& [open, close] = kMarks[draw(kMarks.size())];
  return open + answer + close;
}

std::string drawn_end(const Draw& draw) {
  static const Words kEnds{"",
                           "",
                           "<|im_end|>",
                           "<|eot_id|>",
                           "</s>",
                           "<|return|>",
                           "<end_of_turn>\n",
                           "<|im_end|><|endoftext|><|endoftext|>",
                           "<\xEF\xBD\x9C"
                           "end\xE2\x96\x81of\xE2\x96\x81sentence\xEF\xBD\x9C>",
                           "<turn|>",
                           "<|im_end|>\n<|im_start|>user\nFaster!\n"};
  return one_of(kEnds, draw);
}

std::string replaced(const std::string& text, char c, const std::string& by) {
  std::string all;
  for (const char each : text) {
    all += each == c ? by : std::string(1, each);
  }
  return all;
}

/// The same text in another encoding that a reader forgives.
std::string in_encoding(const std::string& text, const Draw& draw) {
  switch (draw(8)) {
  case 0:
    return "\xEF\xBB\xBF" + text;
  case 1:
    return replaced(text, '\n', "\r\n");
  case 2:
    return replaced(text, '\n', "\r");
  case 3:
    return replaced(text, '(', "\xE2\x80\x8B(");
  case 4:
    return "\xC2\xA0" + text;
  default:
    return text;
  }
}

} // namespace

std::string drawn_reply(const Draw& draw) {
  static const Words kIntros{"", "Here it is.\n\n", "It uses <b>shared</b> memory, {x}.\n",
                             "I ended my notes with `</think>` above.\n"};
  const std::string thoughts = drawn_thoughts(draw);
  const std::string intro = one_of(kIntros, draw);
  return in_encoding(thoughts + intro + (intro.empty() ? "" : "\n") +
                         in_answer_marks(drawn_answer(draw), draw) + drawn_end(draw),
                     draw);
}

} // namespace winnow::agents
