#include "harness/mcp/tools.h"

#include "harness/mcp/tool_arguments.h"
#include "harness/mcp/tool_commands.h"

namespace winnow::harness {
namespace {

std::vector<Tool> task_tools() {
  return {
      {"list_tasks", "List tasks",
       "Lists the tasks that kernels are judged at: name, category and title. Call it if you do "
       "not know the name of your task.",
       object_schema({}), true, list_tasks_command},
      {"describe_task", "Describe a task",
       "Says what a kernel of this task must compute: tensors with types and sizes, tolerance, "
       "and the shapes that you may know. Hidden shapes are only counted. Call it, and `rules`, "
       "before you write a kernel.",
       object_schema({{"task", task_schema()}}, {"task"}), true, describe_task_command},
      {"rules",
       "Rules for kernels",
       "Says what is judged and how: the form of a kernel file with its launch plan, what is not "
       "allowed, and, with a task, its interface, the device and the bounds on its speed. Read "
       "it once before the first kernel: a file that breaks the form is not judged at all.",
       object_schema({{"task", task_schema()}, {"device", device_schema()}, {"gpu", gpu_schema()}}),
       true,
       rules_command,
       {"device", "gpu"}},
  };
}

nlohmann::json evaluate_schema() {
  return object_schema(
      {{"task", task_schema()},
       {"kernels", list_schema("the kernels to judge", kernel_schema(), kMostKernels)},
       {"files", list_schema("paths of more kernel files, or @ID of candidates",
                             text_schema("a path, or @ID"), kMostKernels)},
       {"device", device_schema()},
       {"compile_only", flag_schema("only compile for a GPU, and show registers, spills and shared "
                                    "memory; the machine of the judge needs no such GPU")},
       {"arch", text_schema("with compile_only: the architecture, for instance sm_90a or gfx90a")},
       {"gpu", gpu_schema()},
       {"no_timing", flag_schema("only judge the answers, which is quicker: no times, no speedup")},
       {"no_promotion", flag_schema("skip the hidden shapes, which is quicker: the kernel counts "
                                    "for no board")},
       {"full", flag_schema("the whole record, with each sample of each time, and not the short "
                            "form")}},
      {"task"});
}

nlohmann::json profile_schema() {
  return object_schema({{"task", task_schema()},
                        {"kernel", kernel_schema()},
                        {"device", device_schema()},
                        {"parameters", parameters_schema()},
                        {"counters", word_schema("fast: one pass; full: all counters; off: only "
                                                 "times (default: full)",
                                                 {"fast", "full", "off"})}},
                       {"task", "kernel"});
}

nlohmann::json race_schema() {
  return object_schema({{"task", task_schema()},
                        {"a", kernel_schema()},
                        {"b", kernel_schema()},
                        {"device", device_schema()}},
                       {"task", "a", "b"});
}

std::vector<Tool> judge_tools() {
  return {
      {"evaluate",
       "Judge kernels",
       "Judges kernels: compiles them, compares their answers with the reference, looks for data "
       "races, times them beside the baseline, and checks them at hidden shapes. Give several "
       "variants in one call: they are judged on the same machine in a row, so their times can be "
       "compared. The answer has for each kernel a verdict, what was wrong, at which shape and "
       "where, the speedup with its interval, and the share of the speed of light. A kernel that "
       "is wrong is an answer and no error. Takes seconds to minutes.",
       evaluate_schema(),
       false,
       evaluate_command,
       {"device", "compile_only", "arch", "gpu", "no_promotion"}},
      {"profile",
       "Profile a kernel",
       "Explains the speed of a correct kernel: counters, occupancy, what limits it, energy, and "
       "the speed of light at each shape. Call it when a correct kernel is slower than you expect "
       "and you do not know why.",
       profile_schema(),
       false,
       profile_command,
       {"device"}},
      {"race",
       "Race two kernels",
       "Says which of two correct kernels is faster, by how much and with which certainty: it "
       "times them launch beside launch. Call it when `evaluate` shows two kernels whose "
       "intervals overlap.",
       race_schema(),
       false,
       race_command,
       {"device"}},
  };
}

std::vector<Tool> store_tools() {
  return {
      {"leaderboard", "Leaderboard",
       "Lists the best correct kernels that the judge has kept, by speedup over the baseline. "
       "Call it to see what is to be beaten; `get_kernel` shows the file of a row.",
       object_schema({{"task", task_schema()},
                      {"device", device_schema()},
                      {"top", number_schema("rows for each task and device; 0: all (default: 10)",
                                            0, 10'000)}}),
       true, leaderboard_command},
      {"get_kernel", "Get a kernel",
       "Shows one kernel that the judge has kept: its file, its launch plan, the messages of the "
       "compiler, or its whole record with verdict and times.",
       object_schema(
           {{"id", text_schema("number of a candidate, or the first 4 or more digits of its "
                               "file's digest; a leading @ is allowed")},
            {"part",
             word_schema("what to show (default: source)", {"source", "plan", "log", "record"})}},
           {"id"}),
       true, get_kernel_command},
  };
}

} // namespace

const std::vector<Tool>& tools() {
  static const std::vector<Tool> all = [] {
    std::vector<Tool> list = task_tools();
    for (const auto& more : {judge_tools(), store_tools()}) {
      list.insert(list.end(), more.begin(), more.end());
    }
    return list;
  }();
  return all;
}

nlohmann::json tool_list_json(bool at_server) {
  nlohmann::json list = nlohmann::json::array();
  for (const Tool& tool : tools()) {
    nlohmann::json arguments = tool.arguments;
    for (const std::string& name : at_server ? tool.here_only : std::vector<std::string>()) {
      arguments["properties"].erase(name);
    }
    list.push_back({{"name", tool.name},
                    {"title", tool.title},
                    {"description", tool.description},
                    {"inputSchema", std::move(arguments)},
                    {"annotations",
                     {{"readOnlyHint", tool.only_reads},
                      {"destructiveHint", false},
                      {"openWorldHint", false}}}});
  }
  return {{"tools", std::move(list)}};
}

} // namespace winnow::harness
