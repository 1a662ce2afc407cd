// What each operator asks, on each kind of device: the sections, their budgets, and the texts
// themselves beside golden files. Run with WINNOW_REWRITE_GOLDEN=1 to write the golden files anew.
#include "agents/prompts/missions.h"
#include "agents/prompts/prompt_recipe.h"
#include "agents/reply/reply.h"
#include "base/error.h"
#include "base/files.h"
#include "base/text.h"
#include "tasks/catalogue.h"
#include "tasks/parse/task_parse.h"
#include "tasks/plan/kernel_file.h"
#include "tasks/testing/module_toml_fake.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <set>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace winnow::agents {
namespace {

using testing::HasSubstr;
using testing::IsSupersetOf;
using testing::Not;

const std::filesystem::path kRoot = WINNOW_SOURCE_DIR;

tasks::Task catalogue_task(const std::string& name) {
  return tasks::find_task(kRoot / "tasks/catalogue", name);
}

tasks::DeviceFacts hopper() {
  tasks::DeviceFacts facts;
  facts.architecture = "sm_90a";
  facts.sm_count = 132;
  facts.max_shared_bytes = 232448;
  facts.max_static_shared_bytes = 49152;
  facts.shared_bytes_per_sm = 233472;
  facts.registers_per_sm = 65536;
  facts.max_threads_per_sm = 2048;
  facts.max_blocks_per_sm = 32;
  facts.max_cluster_blocks = 8;
  facts.l2_bytes = 62914560;
  facts.tensor_maps = true;
  facts.clock_mhz = 1980;
  facts.peak_bytes_per_second = 4.81e12;
  return facts;
}

tasks::DeviceFacts two_cores() {
  tasks::DeviceFacts facts;
  facts.sm_count = 2;
  facts.max_threads_per_launch = std::int64_t{1} << 32;
  return facts;
}

tasks::Evaluation timed(const tasks::Task& task, const std::string& device, double speedup) {
  tasks::Evaluation evaluation;
  evaluation.verdict = tasks::Verdict::Correct;
  evaluation.stage = tasks::Stage::Done;
  evaluation.speedup = speedup;
  for (const tasks::Shape& shape : task.shapes_of(tasks::ShapeSet::Search, device)) {
    tasks::CaseResult& timing = evaluation.cases.emplace_back();
    timing.stage = tasks::Stage::Time;
    timing.set = shape.set;
    timing.shape = to_string(shape);
    timing.verdict = tasks::Verdict::Correct;
    timing.baseline_median_ns = 1.2e6;
    timing.median_ns = timing.baseline_median_ns / speedup;
    timing.speedup = speedup;
  }
  return evaluation;
}

/// A context with all that any operator can show.
ProposalContext full_context(const tasks::Task& task, const std::string& device) {
  ProposalContext context;
  context.task = &task;
  context.device = device;
  context.device_name = device == "cpu" ? "EPYC, 2 cores" : "NVIDIA H200";
  context.facts = device == "cpu" ? two_cores() : hopper();
  context.baseline = {0, task.baseline, timed(task, device, 1)};
  context.best = Attempt{5, "// THE BEST KERNEL", timed(task, device, 2.5)};
  context.parent = Attempt{4, "// THE PARENT", timed(task, device, 2)};
  context.second = Attempt{2, "// THE OTHER KERNEL", timed(task, device, 1.25)};
  tasks::Evaluation broken;
  broken.verdict = tasks::Verdict::CompileError;
  broken.detail = "kernel.cu:7: identifier \"tile\" is undefined";
  context.previous = Attempt{6, "// THE PREVIOUS KERNEL", broken};
  for (const auto& shown : {context.second, context.parent, context.best, context.previous}) {
    context.history.push_back(earlier_attempt(shown->number, shown->evaluation));
  }
  context.older = 1;
  context.families = {"one thread for each output, tiles in shared memory",
                      "tensor cores by mma.sync, two stages"};
  context.do_not = {"split the sum over blocks with atomics: 0.61x, the fill alone takes 9 us"};
  context.surface = "Best: TILE=32 (2.00x). Worst: TILE=8 (0.70x). TILE matters most.";
  if (device != "cpu") {
    context.ceilings = {{"peak of 16-bit tensor operations", 1.07e15, "op/s"},
                        {"an empty launch", 2100, "ns"}};
    for (const tasks::Shape& shape : task.shapes_of(tasks::ShapeSet::Search, device)) {
      context.bounds.push_back({to_string(shape), 142'000, "16-bit tensor peak", "",
                                "a plain copy of the same 101 MB (DRAM) takes 28.4 us"});
    }
  }
  return context;
}

ProposalContext context_for(const tasks::Task& task, const std::string& device,
                            const std::string& op) {
  ProposalContext context = full_context(task, device);
  context.op = op;
  if (op == "repair") {
    context.parent = context.previous;
  }
  return context;
}

std::string prompt_of(const ProposalContext& context) {
  std::string text;
  for (const Message& message : PromptTemplates().proposal(context)) {
    text += message.text;
  }
  return text;
}

// The golden files: one for the stable messages, which all operators share, and one for the rest of
// each operator's prompt.

std::string text_of(const std::vector<Message>& messages, bool stable) {
  std::string text;
  for (std::size_t i = 0; i < messages.size(); ++i) {
    if ((i < 2) == stable) {
      text += fmt::format("######## message {}: {}{}\n{}", i + 1, messages[i].role,
                          messages[i].end_of_prefix ? ", ends a prefix" : "", messages[i].text);
    }
  }
  return text;
}

void expect_golden(const std::string& name, const std::string& text) {
  const std::filesystem::path path = kRoot / "agents/testing/golden" / (name + ".txt");
  if (std::getenv("WINNOW_REWRITE_GOLDEN") != nullptr) {
    std::filesystem::create_directories(path.parent_path());
    std::ofstream(path) << text;
    return;
  }
  ASSERT_TRUE(std::filesystem::exists(path)) << path;
  EXPECT_EQ(read_file(path, std::uint64_t{1} << 20U), text)
      << path << ": run with WINNOW_REWRITE_GOLDEN=1 and look at the difference";
}

TEST(PromptGolden, EachOperatorOnEachDevice) {
  for (const auto& [device, task_name] :
       {std::pair{"cuda", "gemm_f16"}, std::pair{"cpu", "axpy"}}) {
    const tasks::Task task = catalogue_task(task_name);
    for (const std::string& op : operator_names()) {
      const auto messages = PromptTemplates().proposal(context_for(task, device, op));
      expect_golden(fmt::format("prefix_{}", device), text_of(messages, true));
      expect_golden(fmt::format("{}_{}", op, device), text_of(messages, false));
    }
  }
}

/// The task row_softmax with reference.py as its reference, and without a baseline.
tasks::Task torch_task() {
  const tasks::Task kernels = catalogue_task("row_softmax");
  tasks::Task task = tasks::parse_task(
      {tasks::module_toml(kernels.task_toml), "", "", kernels.reference_python}, "task.toml");
  task.name = kernels.name;
  task.category = kernels.category;
  return task;
}

TEST(PromptGolden, ATaskWithoutABaseline) {
  const tasks::Task task = torch_task();
  ProposalContext context = context_for(task, "cuda", "seed");
  context.baseline.reset();
  std::vector<Message> messages = PromptTemplates().proposal(context);
  messages.erase(messages.begin()); // the rules, which are the same for all tasks
  expect_golden("torch_seed_cuda", text_of(messages, true) + text_of(messages, false));
}

TEST(PromptTask, TheModuleDefinesATaskWithATorchReference) {
  tasks::Task task = torch_task();
  task.tensors[0].state = "scores.weight";
  ProposalContext context = full_context(task, "cuda");
  context.baseline.reset();
  context.best.reset();
  context.previous.reset();
  context.history.back().verdict = tasks::Verdict::Wrong;
  const std::string prompt = prompt_of(context);
  EXPECT_THAT(prompt,
              HasSubstr("drawn anew for each launch, `scores.weight` of the module: scores"));
  EXPECT_THAT(prompt, HasSubstr("in evaluation mode, computed in float64:\n\n```python\n"));
  EXPECT_THAT(prompt, HasSubstr("your kernel has to beat the module of this task"));
  EXPECT_THAT(prompt, HasSubstr("Start again with a plain kernel"));
  EXPECT_THAT(prompt, Not(HasSubstr("An honest, plain kernel")));
  EXPECT_THAT(prompt, Not(HasSubstr("reference.cu")));
  EXPECT_THAT(prompt, Not(HasSubstr("509"))) << "a hidden size";
  task.torch->training = true;
  EXPECT_THAT(prompt_of(context), HasSubstr("PyTorch module in training mode"));
}

TEST(PromptOperators, AskEachItsOwnQuestion) {
  const tasks::Task task = catalogue_task("row_softmax");
  std::vector<std::string> questions;
  for (const std::string& op : operator_names()) {
    for (const SectionText& section : PromptTemplates().sections(context_for(task, "cuda", op))) {
      if (section.name == "question") {
        questions.push_back(section.text);
      }
    }
  }
  ASSERT_EQ(questions.size(), operator_names().size());
  std::sort(questions.begin(), questions.end());
  EXPECT_EQ(std::unique(questions.begin(), questions.end()), questions.end());
}

TEST(PromptOperators, ShowWhatTheyNeedAndNoMore) {
  const tasks::Task task = catalogue_task("row_softmax");
  const std::map<std::string, std::vector<std::string>> shown{
      {"improve", {"THE BEST", "THE PREVIOUS", "do not try"}},
      {"seed", {"tensor cores by mma.sync, two stages", "do not try"}},
      {"rewrite", {"THE PARENT", "TILE matters", "do not try"}},
      {"diff", {"THE PARENT", "TILE matters", "<<<<<<< SEARCH"}},
      {"crossover", {"THE PARENT", "THE OTHER"}},
      {"contrast", {"THE PARENT", "THE OTHER", "The slower kernel"}},
      {"repair", {"THE PREVIOUS", "repair the compile errors"}},
      {"features", {"THE PARENT", "TILE matters", "keeps these features"}},
      {"insights", {"THE PARENT", "two stages", "Ideas of other kernels", "do not try"}}};
  const std::vector<std::string> marks{"THE BEST",  "THE PREVIOUS", "THE PARENT",
                                       "THE OTHER", "two stages",   "<<<<<<< SEARCH"};
  for (const auto& [op, wanted] : shown) {
    const std::string text = prompt_of(context_for(task, "cpu", op));
    for (const std::string& mark : wanted) {
      EXPECT_THAT(text, HasSubstr(mark)) << op;
    }
    for (const std::string& mark : marks) {
      const bool is_wanted = std::any_of(wanted.begin(), wanted.end(), [&](const auto& one) {
        return one.find(mark) != std::string::npos;
      });
      EXPECT_EQ(text.find(mark) != std::string::npos, is_wanted) << op << ": " << mark;
    }
  }
}

TEST(PromptOperators, RefuseAnUnknownNameAndAMissingParent) {
  const tasks::Task task = catalogue_task("axpy");
  ProposalContext context = full_context(task, "cpu");
  context.op = "sede";
  EXPECT_THROW(PromptTemplates().proposal(context), Error);
  context.parent.reset();
  for (const char* op :
       {"rewrite", "diff", "crossover", "contrast", "repair", "features", "insights"}) {
    context.op = op;
    EXPECT_THROW(PromptTemplates().proposal(context), Error) << op;
  }
}

TEST(PromptOperators, AskForBlocksInsideJsonWhereRepliesAreStructured) {
  const tasks::Task task = catalogue_task("axpy");
  ProposalContext context = context_for(task, "cpu", "diff");
  context.structured = true;
  EXPECT_THAT(prompt_of(context), HasSubstr("\"kernel_file\" with these blocks"));
}

TEST(PromptRecipe, PutsStableSectionsFirst) {
  const auto earlier = [](const Section& a, const Section& b) {
    return std::pair(a.stability, a.role == "user") < std::pair(b.stability, b.role == "user");
  };
  EXPECT_TRUE(std::is_sorted(recipe().begin(), recipe().end(), earlier));
  for (const Section& section : recipe()) {
    EXPECT_GT(section.budget, 0U) << section.name;
    EXPECT_NE(section.operators, 0U) << section.name;
  }
}

TEST(PromptRecipe, HasRoomForEveryTaskOfTheCatalogue) {
  for (const tasks::CatalogueEntry& entry : tasks::list_tasks(kRoot / "tasks/catalogue")) {
    const tasks::Task task = tasks::load_task(entry.folder);
    for (const std::string& device : tasks::device_kinds()) {
      for (const std::string& op : operator_names()) {
        for (const SectionText& section :
             PromptTemplates().sections(context_for(task, device, op))) {
          EXPECT_EQ(section.left_out, 0U) << task.name << " " << device << ": " << section.name;
        }
      }
    }
  }
}

TEST(PromptRecipe, CutsASectionAtALineEndAndClosesItsBlock) {
  std::size_t left_out = 0;
  EXPECT_EQ(cut_to_budget("short\n", 100, left_out), "short\n");
  EXPECT_EQ(left_out, 0U);
  std::string text = "# Title\n```cuda\n";
  for (int i = 0; i < 100; ++i) {
    text += fmt::format("line {}\n", i);
  }
  const std::string cut = cut_to_budget(text + "```\nafter\n", 200, left_out);
  EXPECT_LE(cut.size(), 200U);
  EXPECT_GT(left_out, 0U);
  EXPECT_THAT(cut, HasSubstr(fmt::format("\n```\n[... {} more bytes]\n", left_out)));
  EXPECT_THAT(cut_to_budget(std::string(500, 'x'), 100, left_out), HasSubstr("[... 500 more"));
}

TEST(PromptRecipe, LeavesOutWhatADeviceOrTaskHasNoUseFor) {
  const tasks::Task gemm = catalogue_task("gemm_f16");
  const std::string cuda = prompt_of(full_context(gemm, "cuda"));
  for (const char* said : {"tensor_maps", "\"cluster\": [2]", "{ \"const\":", "resident_blocks",
                           "`sm_90a`", "wgmma", "256 bytes", "142 us", "1.07 Pop/s", "2.1 us"}) {
    EXPECT_THAT(cuda, HasSubstr(said));
  }
  for (const char* useless : {"This device is a CPU", "\"repeat\"", "\"prepare\"", "pitched"}) {
    EXPECT_THAT(cuda, Not(HasSubstr(useless)));
  }
  const std::string cpu = prompt_of(full_context(gemm, "cpu"));
  for (const char* useless :
       {"tensor_maps", "\"cluster\"", "wgmma", "{ \"const\":", "Inline PTX is welcome"}) {
    EXPECT_THAT(cpu, Not(HasSubstr(useless)));
  }
  const tasks::Task axpy = catalogue_task("axpy");
  EXPECT_THAT(prompt_of(full_context(axpy, "cuda")), Not(HasSubstr("tensor_maps\":")));
  EXPECT_THAT(prompt_of(full_context(axpy, "cuda")), Not(HasSubstr("products of matrices")));
  const tasks::Task w4 = catalogue_task("gemm_w4");
  EXPECT_THAT(prompt_of(full_context(w4, "cuda")), HasSubstr("\"prepare\""));
}

const char* const kUsesWgmma = "// wgmma.mma_async, tensor_maps, mbarrier.try_wait";

/// The names of the sections that a prompt of this operator has.
std::set<std::string> sections_of(const ProposalContext& context) {
  std::set<std::string> names;
  for (const SectionText& section : PromptTemplates().sections(context)) {
    names.insert(section.name);
  }
  return names;
}

TEST(PromptExamples, ShowWhatNoKernelOfThePromptHas) {
  const tasks::Task gemm = catalogue_task("gemm_f16");
  const auto sections = sections_of(context_for(gemm, "cuda", "seed"));
  EXPECT_THAT(sections, IsSupersetOf({"example of a kernel file", "ring of stages", "wgmma",
                                      "module", "baseline's code"}));
  EXPECT_FALSE(sections.contains("example of tensor maps")) << "the ring has some";

  ProposalContext context = context_for(gemm, "cuda", "rewrite");
  auto of_parent = sections_of(context);
  EXPECT_THAT(of_parent, IsSupersetOf({"example of tensor maps", "wgmma"}));
  EXPECT_FALSE(of_parent.contains("ring of stages"));
  for (const char* superfluous : {"example of a kernel file", "module", "baseline's code"}) {
    EXPECT_FALSE(of_parent.contains(superfluous)) << superfluous;
  }
  context.parent->text = kUsesWgmma;
  of_parent = sections_of(context);
  for (const char* superfluous : {"ring of stages", "wgmma", "example of tensor maps"}) {
    EXPECT_FALSE(of_parent.contains(superfluous)) << superfluous;
  }
  for (const char* op : {"diff", "features", "insights", "crossover", "contrast"}) {
    EXPECT_FALSE(sections_of(context_for(gemm, "cuda", op)).contains("wgmma")) << op;
  }
}

/// The code of the one block of a section.
std::string code_of(const std::vector<SectionText>& sections, const std::string& name) {
  for (const SectionText& section : sections) {
    const std::size_t begin = section.text.find("```cuda\n");
    if (section.name == name && begin != std::string::npos) {
      const std::size_t code = begin + std::string_view("```cuda\n").size();
      return section.text.substr(code, section.text.find("```", code) - code);
    }
  }
  return {};
}

// So what compile_test.cpp and gpu_test.cpp show of that file holds for the prompt.
TEST(PromptExamples, OfWgmmaAreAFileThatIsTested) {
  const tasks::Task gemm = catalogue_task("gemm_f16");
  const auto sections = PromptTemplates().sections(context_for(gemm, "cuda", "seed"));
  const std::string ring = code_of(sections, "ring of stages");
  const std::size_t plan_end = ring.find("@*/\n");
  ASSERT_NE(plan_end, std::string::npos);
  const std::string file =
      ring.substr(0, plan_end + 4) + code_of(sections, "wgmma") + ring.substr(plan_end + 4);
  const std::string tested =
      read_file(kRoot / "tests/gpu/kernels/gemm_bf16_wgmma.cu", std::uint64_t{1} << 20U);
  EXPECT_EQ(tested.substr(0, file.size()), file);
}

TEST(PromptExamples, ARepairSeesTheTechniqueThatItsKernelTries) {
  const tasks::Task gemm = catalogue_task("gemm_f16");
  ProposalContext context = context_for(gemm, "cuda", "repair");
  EXPECT_FALSE(sections_of(context).contains("wgmma"));
  context.parent->text = kUsesWgmma;
  EXPECT_TRUE(sections_of(context).contains("wgmma"));
  EXPECT_FALSE(sections_of(context).contains("ring of stages"));
  context.parent->evaluation.verdict = tasks::Verdict::Timeout;
  EXPECT_FALSE(sections_of(context).contains("wgmma"));
  EXPECT_TRUE(sections_of(context).contains("ring of stages"));
}

TEST(PromptExamples, FitTheDeviceAndTheTask) {
  const tasks::Task gemm = catalogue_task("gemm_f16");
  ProposalContext context = context_for(gemm, "cuda", "seed");
  context.facts.architecture = "sm_100a";
  EXPECT_FALSE(sections_of(context).contains("wgmma"));
  EXPECT_TRUE(sections_of(context).contains("example of tensor maps"));
  for (const char* other : {"gemm_f32", "row_softmax", "attention_decode_gqa"}) {
    const tasks::Task task = catalogue_task(other);
    EXPECT_FALSE(sections_of(context_for(task, "cuda", "seed")).contains("wgmma")) << other;
  }
  EXPECT_FALSE(sections_of(context_for(gemm, "cpu", "seed")).contains("wgmma"));
}

TEST(PromptExamples, AnImportedModuleIsAlwaysShown) {
  const tasks::Task task = torch_task();
  EXPECT_TRUE(sections_of(context_for(task, "cuda", "rewrite")).contains("module"));
}

TEST(PromptWork, TellsTheTechniquesOfOneKindOfWork) {
  const std::map<std::string, std::string> said{
      {"attention_causal", "running softmax between them"},
      {"attention_decode_gqa", "Cut the keys of one sequence into parts"},
      {"gemm_f16", "that one producer warp fills by TMA"},
      {"gemm_f32", "split into several parts"},
      {"conv_bn_relu", "bring a tile with its rim"},
      {"cumsum_rows", "parts that hand their sums on"},
      {"rmsnorm", "Rows are reduced"},
      {"spmv_csr", "positions of the data are data"},
      {"axpy", "Each byte is moved once"}};
  for (const auto& [name, words] : said) {
    const std::string prompt = prompt_of(context_for(catalogue_task(name), "cuda", "seed"));
    std::size_t kinds = 0;
    for (std::size_t at = prompt.find("# This kind of work"); at != std::string::npos;
         at = prompt.find("# This kind of work", at + 1)) {
      ++kinds;
    }
    EXPECT_EQ(kinds, 1U) << name;
    EXPECT_THAT(prompt, HasSubstr(words)) << name;
  }
  EXPECT_FALSE(sections_of(context_for(catalogue_task("axpy"), "cpu", "seed")).contains("work"));
}

TEST(PromptRecipe, ShowsLoopsToATaskThatCountsSteps) {
  tasks::Task task = catalogue_task("stencil2d");
  EXPECT_THAT(prompt_of(full_context(task, "cpu")), Not(HasSubstr("\"repeat\"")));
  task.axes.push_back({"steps", "time steps"});
  for (tasks::Shape& shape : task.shapes) {
    shape.axes["steps"] = 4;
  }
  EXPECT_THAT(prompt_of(full_context(task, "cpu")), HasSubstr("\"repeat\""));
}

TEST(PromptRecipe, ShowsATensorMapExampleThatIsAKernelFile) {
  const tasks::Task task = catalogue_task("row_softmax");
  for (const SectionText& section : PromptTemplates().sections(context_for(task, "cuda", "seed"))) {
    if (section.name != "example of tensor maps") {
      continue;
    }
    const ExtractedKernel example = extract_kernel_file(section.text, "stop");
    ASSERT_TRUE(example.text) << example.problem;
    const auto parsed = tasks::parse_kernel_file(*example.text, "example.cu");
    EXPECT_TRUE(parsed.warnings.empty()) << to_string(parsed.warnings.front());
    EXPECT_TRUE(parsed.kernel_file) << to_string(parsed.errors.front());
    return;
  }
  FAIL() << "no section about tensor maps";
}

TEST(PromptTask, TellsTheTimesOfLibrariesAtShownShapes) {
  const tasks::Task task = catalogue_task("gemm_f16");
  ProposalContext context = full_context(task, "cuda");
  tasks::LibraryTiming library;
  library.name = "cublaslt";
  library.median_ns = 182'000;
  library.agrees = true;
  context.baseline->evaluation.cases[0].libraries = {library};
  tasks::CaseResult hidden = context.baseline->evaluation.cases[0];
  hidden.set = tasks::ShapeSet::Promotion;
  hidden.shape = "m=1999";
  context.baseline->evaluation.cases.push_back(hidden);
  EXPECT_THAT(prompt_of(context), HasSubstr("library (cublaslt) takes 182 us at m=4096, n=4096"));
  EXPECT_THAT(prompt_of(context), Not(HasSubstr("1999")));
}

TEST(PromptTask, SaysInWordsWhetherTimedHiddenSizesAreMultiples) {
  tasks::Task task = catalogue_task("gemm_f16");
  const auto shape = [](tasks::ShapeSet set, std::int64_t m, std::int64_t n, std::int64_t k) {
    return tasks::Shape{"", set, {{"m", m}, {"n", n}, {"k", k}}, {}, {}};
  };
  using enum tasks::ShapeSet;
  task.shapes = {shape(Search, 4096, 4096, 4096), shape(Promotion, 4000, 4104, 4099),
                 shape(HeldOut, 4032, 4112, 4096), shape(HeldOut, 7, 7, 7)};
  for (tasks::Shape& one : task.shapes) {
    one.scalars = catalogue_task("gemm_f16").shapes.front().scalars;
  }
  EXPECT_THAT(prompt_of(full_context(task, "cuda")),
              HasSubstr("Hidden sizes that are timed: all multiples of 16: `m`; all multiples of "
                        "8: `n`; not all multiples of 8: `k`."));
  task.shapes.erase(task.shapes.begin() + 1, task.shapes.begin() + 3);
  EXPECT_THAT(prompt_of(full_context(task, "cuda")), Not(HasSubstr("that are timed:")));
}

TEST(PromptTask, TellsClassesOfSizesAndTheToleranceInWords) {
  const std::string f16 = prompt_of(full_context(catalogue_task("gemm_f16"), "cuda"));
  EXPECT_THAT(f16, HasSubstr("`m` < 2^13, `n` < 2^13, `k` < 2^13"));
  EXPECT_THAT(f16, HasSubstr("f16 factors with f32 accumulators pass. Accumulators in f16"));
  EXPECT_THAT(f16, HasSubstr("atomics, in an order that varies from run to run, are allowed"));
  const std::string axpy = prompt_of(full_context(catalogue_task("axpy"), "cpu"));
  EXPECT_THAT(axpy, HasSubstr("every axis is at least 1"));
  EXPECT_THAT(axpy, HasSubstr("a varying order are `unstable`"));
  EXPECT_THAT(prompt_of(full_context(catalogue_task("gemm_i8"), "cuda")),
              HasSubstr("none: integers are exact"));
}

TEST(PromptMission, IsADirectionAmongOthers) {
  const tasks::Task task = catalogue_task("row_softmax");
  std::set<std::string_view> names;
  for (const Mission& mission : missions()) {
    EXPECT_TRUE(names.insert(mission.name).second) << mission.name;
    ProposalContext context = full_context(task, "cuda");
    context.op = mission.for_seeds ? "seed" : "rewrite";
    context.mission = mission_words(mission.name);
    EXPECT_THAT(prompt_of(context), HasSubstr("another way. Yours: " + context.mission));
    context.op = "repair";
    EXPECT_THAT(prompt_of(context), Not(HasSubstr(context.mission))) << "it must work first";
  }
  EXPECT_THROW(mission_words("no such mission"), Error);
}

} // namespace
} // namespace winnow::agents
