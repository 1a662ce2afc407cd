#include "agents/prompts/prompts.h"
#include "agents/reply/reply.h"
#include "base/digest.h"
#include "base/error.h"
#include "base/files.h"
#include "tasks/plan/kernel_file.h"
#include "tasks/plan/tuning/parameter_choices.h"

#include <fstream>
#include <map>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace winnow::agents {
namespace {

using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

tasks::Shape shape(tasks::ShapeSet set, std::int64_t rows, std::int64_t cols, double eps) {
  return {std::string(to_string(set)) + "/0",
          set,
          {{"rows", rows}, {"cols", cols}},
          {{"eps", eps}},
          {}};
}

tasks::Task softmax_task() {
  tasks::Task task;
  task.name = "row_softmax";
  task.title = "Softmax of each row";
  task.description = "y[r, c] = exp(x[r, c]) / sum over c";
  task.axes = {{"rows", "independent rows"}, {"cols", ""}};
  const std::vector<tasks::Expression> extent{tasks::Expression::parse("rows"),
                                              tasks::Expression::parse("cols")};
  task.tensors = {{"x", tasks::Role::Input, tasks::DType::F32, extent, {}, "logits"},
                  {"y", tasks::Role::Output, tasks::DType::F32, extent, {}, ""}};
  task.scalars = {{"eps", tasks::DType::F32, 1e-5, 1e-6, 1e-3, ""}};
  task.tolerance.multiple = tasks::Expression::parse("8 + 2 * sqrt(cols)");
  task.operations = tasks::Expression::parse("4 * rows * cols");
  task.bytes = tasks::Expression::parse("8 * rows * cols");
  task.shapes = {shape(tasks::ShapeSet::Tiny, 3, 5, 1e-5),
                 shape(tasks::ShapeSet::Search, 64, 1000, 1e-5),
                 shape(tasks::ShapeSet::Promotion, 7919, 6007, 0.000271828),
                 shape(tasks::ShapeSet::HeldOut, 5003, 4001, 0.000314159)};
  task.reference_python = "class Model(nn.Module): pass\n";
  return task;
}

tasks::CaseResult timed_case(double median_ns, double baseline_ns) {
  tasks::CaseResult result;
  result.stage = tasks::Stage::Time;
  result.set = tasks::ShapeSet::Search;
  result.shape = "rows=64, cols=1000";
  result.verdict = tasks::Verdict::Correct;
  result.median_ns = median_ns;
  result.baseline_median_ns = baseline_ns;
  result.speedup = baseline_ns / median_ns;
  return result;
}

tasks::Evaluation correct(double speedup) {
  tasks::Evaluation evaluation;
  evaluation.verdict = tasks::Verdict::Correct;
  evaluation.stage = tasks::Stage::Done;
  evaluation.speedup = speedup;
  evaluation.cases = {timed_case(2000 / speedup, 2000)};
  return evaluation;
}

tasks::Evaluation failing(tasks::Verdict verdict, const std::string& detail) {
  tasks::Evaluation evaluation;
  evaluation.verdict = verdict;
  evaluation.stage = tasks::Stage::Search;
  evaluation.detail = detail;
  return evaluation;
}

ProposalContext context_for(const tasks::Task& task) {
  ProposalContext context;
  context.task = &task;
  context.device_name = "EPYC, 2 cores";
  context.facts.sm_count = 2;
  context.baseline = {0, "// BASELINE CODE", correct(1)};
  return context;
}

std::string prompt_text(const ProposalContext& context) {
  std::string text;
  for (const Message& message : PromptTemplates().proposal(context)) {
    text += message.text;
  }
  return text;
}

TEST(Prompts, DescribeTaskDeviceAndFormat) {
  const tasks::Task task = softmax_task();
  const auto messages = PromptTemplates().proposal(context_for(task));
  ASSERT_EQ(messages.size(), 4U);
  EXPECT_EQ(messages[0].role, "system");
  EXPECT_THAT(messages[0].text, HasSubstr("NOT zeroed"));
  EXPECT_THAT(messages[0].text, HasSubstr("/*@winnow"));
  EXPECT_EQ(messages[1].role, "user");
  const std::string user = messages[1].text + messages[2].text + messages[3].text;
  EXPECT_THAT(user, HasSubstr("Softmax of each row"));
  EXPECT_THAT(user, HasSubstr("- `x`: input, f32 (`const float*`), shape [rows, cols]"));
  EXPECT_THAT(user, HasSubstr("rows=64, cols=1000"));
  EXPECT_THAT(user, HasSubstr("`sm_count` = 2"));
  EXPECT_THAT(user, HasSubstr("This device is a CPU"));
  EXPECT_THAT(user, HasSubstr("class Model"));
  EXPECT_THAT(user, HasSubstr("// BASELINE CODE"));
  EXPECT_THAT(user, Not(HasSubstr("{{")));
}

/// The task of a residual network in evaluation mode.
tasks::Task deep_task() {
  tasks::Task task = softmax_task();
  task.torch.emplace();
  task.bytes = tasks::Expression::parse("4 * rows * cols" + std::string(500, ' ') + " + 1");
  const auto add = [&](std::string state, std::vector<std::int64_t> extents) {
    tasks::TensorSpec tensor;
    for (const std::int64_t extent : extents) {
      tensor.shape.push_back(tasks::Expression::constant(extent));
    }
    tensor.state = state;
    std::replace(state.begin(), state.end(), '.', '_');
    tensor.name = state;
    tensor.is_static = true;
    task.tensors.push_back(std::move(tensor));
  };
  const std::int64_t blocks[] = {3, 4, 6, 3};
  for (std::int64_t layer = 1; layer <= 4; ++layer) {
    const std::int64_t width = 32 << layer;
    for (std::int64_t block = 0; block < blocks[layer - 1]; ++block) {
      for (std::int64_t part = 1; part <= 3; ++part) {
        const std::string place = fmt::format("layer{}.{}.", layer, block);
        const std::int64_t inner = part == 2 ? 3 : 1;
        const std::int64_t from = part == 1 && block > 0 ? 4 * width : width;
        const std::int64_t to = part == 3 ? 4 * width : width;
        add(fmt::format("{}conv{}.weight", place, part), {to, from, inner, inner});
        for (const char* kind : {"weight", "bias", "running_mean", "running_var"}) {
          add(fmt::format("{}bn{}.{}", place, part, kind), {to});
        }
      }
    }
  }
  return task;
}

TEST(Prompts, FoldTheParametersOfADeepModule) {
  tasks::Task task = deep_task();
  ASSERT_EQ(task.tensors.size(), 242U);
  const std::string text = prompt_text(context_for(task));
  for (const char* part :
       {"`layer2_{0..3}_bn{1,2}_running_{mean,var}` [128]",
        "`layer3_{1..5}_conv1_weight` [256, 1024, 1, 1]",
        "f32 (`const float*`), values normally distributed:", "`{0..2}` is a choice of 0, 1 and 2",
        "over many runs: the parameters and buffers of the module", "\"table\": [64, 64, 128]",
        "must move at least: 2.56e+05 at the shape below"}) {
    EXPECT_THAT(text, HasSubstr(part));
  }
  for (tasks::TensorSpec& tensor : task.tensors) {
    tensor.is_static = false; // not folded
  }
  const std::string in_full = prompt_text(context_for(task));
  EXPECT_GT(in_full.size(), text.size() + 19000);
  EXPECT_THAT(text, Not(HasSubstr("more bytes]")));
  EXPECT_THAT(in_full, Not(HasSubstr("_bn{")));
}

TEST(Prompts, SayWhichRangesOfAnInputVary) {
  tasks::Task task = softmax_task();
  task.tensors[0].generator = {tasks::GeneratorSpec::Kind::Normal, {-2, 2}, {0.5, 2}};
  EXPECT_THAT(prompt_text(context_for(task)),
              HasSubstr("values normally distributed, mean from -2 to 2, standard deviation from "
                        "0.5 to 2, drawn anew for each launch"));
  task.tensors[0].generator = {tasks::GeneratorSpec::Kind::LogUniform, {-4, -1}, 10};
  EXPECT_THAT(prompt_text(context_for(task)),
              HasSubstr("least magnitude from 0.0625 to 0.5, drawn"));
  task.tensors[0].is_static = true;
  EXPECT_THAT(prompt_text(context_for(task)), HasSubstr("from 0.0625 to 0.5, drawn once"));
}

TEST(Prompts, SayHowToReadFloatsThatAreCodes) {
  tasks::Task task = softmax_task();
  EXPECT_THAT(prompt_text(context_for(task)), Not(HasSubstr("OCP")));
  task.tensors[0].dtype = tasks::DType::F4E2M1X2;
  ProposalContext context = context_for(task);
  EXPECT_THAT(prompt_text(context),
              testing::AllOf(HasSubstr("f4e2m1x2 (`const unsigned char*`)"),
                             HasSubstr("0, 0.5, 1, 1.5, 2, 3, 4, 6"), Not(HasSubstr("cuda_fp4"))));
  context.device = "cuda";
  EXPECT_THAT(prompt_text(context), HasSubstr("`cuda_fp4.h` (`__nv_fp4x2_e2m1`)"));
}

TEST(Prompts, SayWhetherAnIntHoldsAnyIndex) {
  tasks::Task task = softmax_task();
  EXPECT_THAT(prompt_text(context_for(task)), HasSubstr("an `int` holds any index"));
  task.shapes.push_back(shape(tasks::ShapeSet::HeldOut, 50000, 50000, 1e-5));
  EXPECT_THAT(prompt_text(context_for(task)), HasSubstr("use 64-bit indices"));
}

TEST(Prompts, ShowAnExampleThatIsAKernelFile) {
  const tasks::Task task = softmax_task();
  const ProposalContext context = context_for(task);
  const std::vector<SectionText> sections = PromptTemplates().sections(context);
  const auto shown = std::find_if(sections.begin(), sections.end(), [](const SectionText& one) {
    return one.name == "example of a kernel file";
  });
  ASSERT_NE(shown, sections.end());
  const ExtractedKernel example = extract_kernel_file(shown->text, "stop");
  ASSERT_TRUE(example.text) << example.problem;
  const auto parsed = tasks::parse_kernel_file(*example.text, "example.cu");
  EXPECT_TRUE(parsed.warnings.empty()) << to_string(parsed.warnings.front());
  ASSERT_TRUE(parsed.kernel_file) << to_string(parsed.errors.front());
  std::vector<Diagnostic> errors;
  const auto names = tasks::kernel_names(*parsed.kernel_file, task, task.shapes,
                                         tasks::parameter_choices(parsed.kernel_file->plan, 1)[0],
                                         context.facts, errors);
  EXPECT_TRUE(errors.empty()) << to_string(errors.front());
  EXPECT_THAT(names, testing::ElementsAre("row_total", "divide<4>"));
}

TEST(Prompts, KeepThePrefixWhileTheTailChanges) {
  const tasks::Task task = softmax_task();
  ProposalContext context = context_for(task);
  const auto first = PromptTemplates().proposal(context);
  context.best = Attempt{2, "// BEST", correct(1.5)};
  context.previous = Attempt{3, "// PREVIOUS", failing(tasks::Verdict::Wrong, "row 3")};
  context.history = {earlier_attempt(2, context.best->evaluation),
                     earlier_attempt(3, context.previous->evaluation)};
  const auto later = PromptTemplates().proposal(context);
  ASSERT_EQ(first.size(), 4U);
  ASSERT_EQ(later.size(), 4U);
  for (const std::size_t stable : {0U, 1U}) {
    EXPECT_EQ(first[stable].text, later[stable].text);
    EXPECT_TRUE(first[stable].end_of_prefix);
  }
  EXPECT_TRUE(first[2].end_of_prefix) << "the same for all calls that show no kernel";
  EXPECT_THAT(first[2].text, HasSubstr("// BASELINE CODE"));
  EXPECT_FALSE(first[3].end_of_prefix);
  EXPECT_THAT(later[2].text, HasSubstr("// BEST"));
  EXPECT_TRUE(later[2].end_of_prefix);
  EXPECT_THAT(later[3].text, HasSubstr("// PREVIOUS"));
  EXPECT_FALSE(later[3].end_of_prefix);
}

TEST(Prompts, NeverShowHiddenSizes) {
  const tasks::Task task = softmax_task();
  ProposalContext context = context_for(task);
  tasks::Evaluation unseen =
      failing(tasks::Verdict::WrongUnseen, "wrong at rows=7919, cols=6007, eps=0.000271828");
  unseen.stage = tasks::Stage::Promotion;
  tasks::CaseResult hidden;
  hidden.set = tasks::ShapeSet::Promotion;
  hidden.shape = "rows=7919, cols=6007, eps=0.000271828";
  hidden.shape_id = "promotion/0";
  hidden.verdict = tasks::Verdict::Wrong;
  hidden.detail = "cols=6007";
  hidden.mismatch = tasks::Mismatch{"y", 7919, 6007 * 7919, 6006, "(row 7918, col 6006)",
                                    1,   2,    0.1,         9,    "col 6006"};
  hidden.median_ns = 6007;
  unseen.cases = {timed_case(1000, 2000), hidden};
  tasks::Evaluation good = correct(1.5);
  good.cases.push_back(hidden);
  context.best = Attempt{2, "// BEST", good};
  context.previous = Attempt{3, "// PREVIOUS", unseen};
  context.history = {earlier_attempt(2, context.best->evaluation),
                     earlier_attempt(3, context.previous->evaluation)};
  const std::string text = prompt_text(context);
  for (const char* secret :
       {"7919", "6007", "7918", "6006", "000271828", "5003", "4001", "000314159", "promotion/0"}) {
    EXPECT_THAT(text, Not(HasSubstr(secret)));
  }
  EXPECT_THAT(text, HasSubstr("fails a hidden shape"));
  EXPECT_THAT(text, HasSubstr("// PREVIOUS"));
}

TEST(Prompts, ShowThePreviousAttemptThatTheSearchChose) {
  const tasks::Task task = softmax_task();
  ProposalContext context = context_for(task);
  context.best = Attempt{1, "// BEST", correct(2.0)};
  context.previous = Attempt{2, "// SLOWER", correct(1.5)};
  context.history = {earlier_attempt(1, context.best->evaluation),
                     earlier_attempt(2, context.previous->evaluation)};
  EXPECT_THAT(prompt_text(context), HasSubstr("// SLOWER"));
  EXPECT_THAT(prompt_text(context), HasSubstr("Do not repeat an idea that was slower"));
  context.previous.reset();
  EXPECT_THAT(prompt_text(context), Not(HasSubstr("// SLOWER")));
  EXPECT_THAT(prompt_text(context), HasSubstr("clearly slower than the best"));
}

TEST(Prompts, ShowAKernelOfAnotherTaskExceptInRepairs) {
  const tasks::Task task = softmax_task();
  ProposalContext context = context_for(task);
  EXPECT_THAT(prompt_text(context), Not(HasSubstr("A kernel file of another task")));
  context.exemplar = tasks::Exemplar{"reduce_sum", "Sum", "// THE OTHER TASK'S KERNEL"};
  EXPECT_THAT(prompt_text(context), HasSubstr("baseline of `reduce_sum` (Sum)"));
  EXPECT_THAT(prompt_text(context), HasSubstr("// THE OTHER TASK'S KERNEL"));
  context.op = "repair";
  context.parent = Attempt{1, "// BROKEN", correct(1)};
  EXPECT_THAT(prompt_text(context), Not(HasSubstr("// THE OTHER TASK'S KERNEL")));
}

TEST(Prompts, ShowTheBestOnceWhenItIsThePreviousToo) {
  const tasks::Task task = softmax_task();
  ProposalContext context = context_for(task);
  context.best = context.previous = Attempt{1, "// BEST", correct(2.0)};
  const std::string text = prompt_text(context);
  const std::size_t first = text.find("// BEST");
  ASSERT_NE(first, std::string::npos);
  EXPECT_EQ(text.find("// BEST", first + 1), std::string::npos);
  EXPECT_THAT(text, HasSubstr("is the best kernel so far"));
}

TEST(Prompts, SayThatAKernelIsFittedToTheShownShapesButNotWhere) {
  const tasks::Task task = softmax_task();
  ProposalContext context = context_for(task);
  context.op = "rewrite";
  context.parent = Attempt{2, "// PARENT", correct(10)};
  tasks::CaseResult hidden = timed_case(77'777, 345'678);
  hidden.stage = tasks::Stage::Promotion;
  hidden.set = tasks::ShapeSet::Promotion;
  hidden.shape = "rows=7919, cols=6007";
  context.parent->evaluation.cases.push_back(hidden); // 4.44x
  const std::string text = prompt_text(context);
  EXPECT_THAT(text, HasSubstr("This kernel is fitted to the shown shapes: at hidden sizes"));
  for (const char* secret : {"7919", "6007", "77.7", "77.8", "345.", "4.44"}) {
    EXPECT_THAT(text, Not(HasSubstr(secret)));
  }
  context.parent->evaluation.cases.back().speedup = 6;
  EXPECT_THAT(prompt_text(context), Not(HasSubstr("fitted")));
}

TEST(Prompts, RepairCompileErrorsButGiveUpOnWrongResultsThatAreNotShown) {
  const tasks::Task task = softmax_task();
  ProposalContext context = context_for(task);
  context.previous =
      Attempt{2, "// BROKEN", failing(tasks::Verdict::CompileError, "k.cu:3: no 'z'")};
  context.history = {earlier_attempt(1, failing(tasks::Verdict::Wrong, "row 3")),
                     earlier_attempt(2, context.previous->evaluation)};
  EXPECT_THAT(prompt_text(context), HasSubstr("// BROKEN"));
  EXPECT_THAT(prompt_text(context), HasSubstr("repair the compile errors"));
  EXPECT_THAT(prompt_text(context), HasSubstr("- attempt 1: wrong: row 3"));
  context.previous.reset();
  context.history[1] = earlier_attempt(2, failing(tasks::Verdict::Wrong, "row 4"));
  EXPECT_THAT(prompt_text(context), Not(HasSubstr("// BROKEN")));
  EXPECT_THAT(prompt_text(context), HasSubstr("Start again from a kernel that is known"));
}

TEST(Prompts, AskForJsonWhereRepliesAreStructured) {
  const tasks::Task task = softmax_task();
  ProposalContext context = context_for(task);
  context.structured = true;
  EXPECT_THAT(PromptTemplates().proposal(context).back().text,
              HasSubstr("\"kernel_file\" with the complete kernel file"));
}

TEST(Prompts, TemplatesAreOverriddenFileByFile) {
  const TemporaryDirectory directory("prompts");
  std::ofstream(directory.path() / "question_improve.md") << "My question. {{advice}}\n";
  const tasks::Task task = softmax_task();
  const auto messages = PromptTemplates(directory.path()).proposal(context_for(task));
  EXPECT_THAT(messages[3].text, HasSubstr("My question. Write a correct kernel"));
  EXPECT_THAT(messages[1].text, StartsWith("# Task"));
  const auto own = own_templates(directory.path());
  ASSERT_EQ(own.size(), 1U);
  EXPECT_EQ(own.at("question_improve.md"), sha256_hex("My question. {{advice}}\n"));
  EXPECT_TRUE(own_templates({}).empty());
}

TEST(Prompts, CutADetailOfTheHistoryBetweenWords) {
  const tasks::Task task = softmax_task();
  ProposalContext context = context_for(task);
  std::string detail;
  for (int i = 0; i < 30; ++i) {
    detail += "elements ";
  }
  context.history = {earlier_attempt(1, failing(tasks::Verdict::Wrong, detail))};
  EXPECT_THAT(prompt_text(context), HasSubstr("elements elements ...\n"));
}

std::string error_of_templates(const std::filesystem::path& directory) {
  try {
    const PromptTemplates templates(directory);
  } catch (const Error& failure) {
    return failure.what();
  }
  return "no error";
}

std::string error_of_question(const std::string& text) {
  const TemporaryDirectory directory("prompts");
  std::ofstream(directory.path() / "question_improve.md") << text;
  return error_of_templates(directory.path());
}

TEST(Prompts, NameTheLineOfAnUnknownPlaceholder) {
  EXPECT_THAT(
      error_of_question("{{advice}}\nint a[2][1] = {{1}, {2}};\n{{advise}}\n"),
      HasSubstr("question_improve.md:3: unknown placeholder {{advise}}; did you mean 'advice'?"));
  EXPECT_THAT(error_of_question("{{words}}"), HasSubstr("known: advice"));
}

TEST(Prompts, RefuseAPlaceholderThatIsNotClosed) {
  for (const char* text : {"{{advice", "{{advice\n", "{{ advice of code", "{{{advice, 1"}) {
    EXPECT_THAT(error_of_question("{{advice}}\n" + std::string(text)),
                HasSubstr("question_improve.md:2: a placeholder is written {{advice}}"))
        << text;
  }
  EXPECT_EQ(error_of_question("{{advice}}\nint a[1][2] = {{b, 1}};"), "no error");
}

TEST(Prompts, RefuseAPlaceholderThatIsNotWrittenAsOne) {
  for (const char* written : {"{{ advice }}", "{{advice }}", "{advice}", "${advice}", "{{advice}",
                              "{advice}}", "{{ADVICE}}", "{{ Advice }", "{{\tadvice}}"}) {
    EXPECT_THAT(error_of_question(std::string("Mine.\n") + written + "\n"),
                HasSubstr("question_improve.md:2: "))
        << written;
    EXPECT_THAT(error_of_question(std::string("Mine.\n") + written + "\n"), HasSubstr("{{advice}}"))
        << written;
  }
}

TEST(Prompts, TakeOtherBracesAsText) {
  for (const char* text : {"int a[2] = {{0}};", "{ advice }", "{other}", "{{{advice}}}", "{{", "{}",
                           "norm<{cols}>", "{\"advice\": 1}", "{{advice}}{{advice}}"}) {
    EXPECT_EQ(error_of_question(text), "no error") << text;
  }
}

TEST(Prompts, RefuseAMisspeltTemplate) {
  const TemporaryDirectory directory("prompts");
  for (const auto& [name, meant] :
       std::map<std::string, std::string>{{"qestion_seed.md", "question_seed.md"},
                                          {"question_improve", "question_improve.md"},
                                          {"advice.txt", "advice.md"},
                                          {"System.md", "system.md"},
                                          {"system.md.bak", "system.md"}}) {
    const std::filesystem::path folder = directory.path() / "of" / name;
    std::filesystem::create_directories(folder);
    std::ofstream(folder / name) << "x";
    std::ofstream(folder / "history.md") << "x"; // one right name excuses no wrong one
    EXPECT_THAT(error_of_templates(folder), HasSubstr("did you mean '" + meant + "'?")) << name;
  }
}

TEST(Prompts, RefuseAFolderWithoutATemplate) {
  const TemporaryDirectory directory("prompts");
  EXPECT_THAT(error_of_templates(directory.path()), HasSubstr("has no prompt template"));
  std::ofstream(directory.path() / ".hidden") << "x"; // of an editor, or of git
  std::ofstream(directory.path() / "system.md~") << "x";
  EXPECT_THAT(error_of_templates(directory.path()), HasSubstr("has no prompt template"));
  std::filesystem::create_directory(directory.path() / "inner");
  std::ofstream(directory.path() / "inner" / "system.md") << "x";
  EXPECT_THAT(error_of_templates(directory.path()),
              HasSubstr("inner: no prompt template has this name"));
}

TEST(Prompts, TellOwnTemplatesInALine) {
  const TemporaryDirectory directory("prompts");
  std::ofstream(directory.path() / "question_improve.md") << "Mine.\n";
  std::ofstream(directory.path() / "system.md") << "Mine.\n";
  std::ofstream(directory.path() / "best.md") << "{{code}} {{feedback}} {{number}}\n";
  EXPECT_EQ(own_templates_text(directory.path()),
            "own prompt templates in " + directory.path().string() +
                ": system.md, best.md (without {{speedup}}, {{versus}}), question_improve.md "
                "(without {{advice}})");
  EXPECT_EQ(own_templates_text({}), "");
}

TEST(Feedback, ShowsTheFirstWrongElementAndThePattern) {
  tasks::Evaluation evaluation = failing(tasks::Verdict::Wrong, "y is wrong");
  tasks::CaseResult wrong;
  wrong.stage = tasks::Stage::Search;
  wrong.set = tasks::ShapeSet::Search;
  wrong.shape = "rows=64, cols=1000";
  wrong.verdict = tasks::Verdict::Wrong;
  wrong.mismatch = tasks::Mismatch{"y", 24,   64000, 992,   "(row 0, col 992)",
                                   0,   0.25, 1e-6,  2.5e5, "only the last column tile"};
  evaluation.cases = {wrong};
  const std::string text = feedback_text(evaluation, "PyTorch eager");
  EXPECT_THAT(text, HasSubstr("shape rows=64, cols=1000 (search): wrong"));
  EXPECT_THAT(text,
              HasSubstr("24 of 64000 elements of `y` are wrong; the first is element 992 (row 0, "
                        "col 992): got 0, expected 0.25"));
  EXPECT_THAT(text, HasSubstr("Pattern: only the last column tile"));
}

TEST(Feedback, TabulatesTimes) {
  tasks::Evaluation evaluation = correct(2.0);
  evaluation.parameters = {{"BLOCK", 128}};
  const std::string text = feedback_text(evaluation, "PyTorch eager");
  EXPECT_THAT(text, HasSubstr("Overall: 2.00x the speed of PyTorch eager"));
  EXPECT_THAT(text, HasSubstr("BLOCK=128"));
  EXPECT_THAT(text, HasSubstr("| rows=64, cols=1000 | 1 us | 2 us | 2.00x |"));
}

TEST(Feedback, SaysHowNearTheToleranceIs) {
  tasks::Evaluation evaluation = correct(2);
  EXPECT_THAT(feedback_text(evaluation, "the baseline"), Not(HasSubstr("Largest error")));
  tasks::CaseResult shown = timed_case(1000, 2000);
  shown.max_error_ratio = 0.423;
  shown.rms_error_ratio = 0.131;
  tasks::CaseResult hidden = shown;
  hidden.set = tasks::ShapeSet::Promotion;
  hidden.max_error_ratio = 0.9;
  evaluation.cases = {shown, hidden};
  EXPECT_THAT(feedback_text(evaluation, "the baseline"),
              HasSubstr("Largest error: 0.42 of its limit; rms of all errors: 0.13 of its own"));
}

TEST(Feedback, CapsCompilerMessages) {
  tasks::Evaluation evaluation =
      failing(tasks::Verdict::CompileError, "k.cu:3:1: unknown name 'z'");
  for (int i = 0; i < 1000; ++i) {
    evaluation.build.log += "k.cu:3:1: error: unknown name 'z'\n";
  }
  const std::string text = feedback_text(evaluation, "PyTorch eager");
  EXPECT_THAT(text, HasSubstr("more bytes]"));
  EXPECT_LT(text.size(), 6000U);
}

} // namespace
} // namespace winnow::agents
