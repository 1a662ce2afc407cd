#include "tasks/host_program/gpumode_file.h"

#include "base/error.h"
#include "base/text.h"
#include "tasks/host_program/kernelbench_file.h"
#include "tasks/host_program/program_text.h"

#include <algorithm>
#include <cctype>

#include <fmt/format.h>

namespace winnow::tasks {
namespace {

constexpr std::string_view kRefused = "stream"; ///< by GPU MODE's server, in any case

struct Change {
  std::string_view from, to;
};

/// From host code that is told its stream to host code on the default one. The texts are those of
/// plan.cuh, module.cuh, call.py.in and plan_cpp.cpp.
constexpr Change kChanges[] = {
    {"cudaStream_t stream_, ", ""},
    {"cudaStream_t stream, ", ""},
    {"stream_, ", ""},
    {"(stream, ", "("},
    {"<<<1024, 256, 0, stream>>>", "<<<1024, 256>>>"},
    {", stream));", "));"},
    {"  config.stream = stream;\n", ""},
    {"inline cudaStream_t stream_of(std::int64_t stream) {\n"
     "  return reinterpret_cast<cudaStream_t>(static_cast<std::uintptr_t>(stream));\n}\n",
     ""},
    {"plan::stream_of(stream), ", ""},
    {",\n                      std::int64_t stream)", ")"},
    {",\n                  std::int64_t stream)", ")"},
    {", std::int64_t stream)", ")"},
    {"        stream = torch.cuda.current_stream(device).cuda_stream\n", ""},
    {"(device, stream, integers, reals)", "(device, integers, reals)"},
    {", pointers, stream)", ", pointers)"},
};

std::string on_default_stream(std::string text) {
  for (const auto& [from, to] : kChanges) {
    for (std::size_t at = text.find(from); at != std::string::npos; at = text.find(from, at)) {
      text.replace(at, from.size(), to);
      at += to.size();
    }
  }
  return text;
}

bool is_refused(std::string_view line) {
  std::string lower(line);
  std::transform(lower.begin(), lower.end(), lower.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return lower.find(kRefused) != std::string::npos;
}

/// The lines that GPU MODE's client reads.
std::string head(const GpuModeBoard& board) {
  std::string text = "#!POPCORN leaderboard " + one_line(board.leaderboard) + "\n";
  if (!board.gpus.empty()) {
    text += "#!POPCORN gpus " + one_line(join(board.gpus, " ")) + "\n";
  }
  return text + "\n";
}

} // namespace

std::string gpumode_file(const HostProgram& program, const GpuModeBoard& board) {
  const std::string& module = program.task.reference_python;
  if (board.leaderboard.empty() || module.find("\ndef inputs_of(data):\n") == std::string::npos) {
    throw UsageError(fmt::format("task {} is no problem of GPU MODE", program.task.name),
                     "this command is for tasks of `winnow tasks import gpumode`; `winnow export "
                     "kernelbench` and `winnow export kernel` are for others");
  }
  return head(board) + on_default_stream(kernelbench_file(program)) + "\n\n" +
         std::string(trim(support_text({"host_program/custom_kernel.py.in"}))) + "\n";
}

std::vector<std::string> gpumode_notes(const Task& task, const std::string& text) {
  std::vector<std::string> notes;
  int number = 0;
  for (const std::string_view line : split_lines(text)) {
    ++number;
    if (is_refused(line)) {
      notes.push_back(fmt::format("GPU MODE's server refuses a file with the word '{}', as in line "
                                  "{}: use another word there",
                                  kRefused, number));
      break;
    }
  }
  if (is_scaled(task.source.flags)) {
    notes.emplace_back("the task's shapes are smaller than GPU MODE's: the kernel was not judged "
                       "and not tuned at its sizes");
  }
  return notes;
}

} // namespace winnow::tasks
