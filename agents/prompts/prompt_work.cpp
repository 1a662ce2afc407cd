// The kind of work of a task on a GPU, and what makes such kernels fast there.
#include "agents/prompts/prompt_sections.h"
#include "agents/prompts/work_kind.h"
#include "tasks/plan/architecture.h"

#include <fmt/format.h>

namespace winnow::agents {
namespace {

/// Operations for each byte that must move, above which the arithmetic decides.
constexpr double kMostlyArithmetic = 50;

constexpr bool has_wgmma(int capability) {
  return capability >= 90 && capability < 100;
}
constexpr bool has_tcgen05(int capability) {
  return capability >= 100 && capability < 120;
}

constexpr std::string_view kFloatDesign =
    "the f32 units, with a tile of 8 x 8 sums or more in the registers of each thread and operands "
    "brought by asynchronous copies through several stages of shared memory. Tensor cores pass "
    "only with factors that are split into several parts.";

/// The design that comes near the peak of products on these tensor cores.
std::string_view product_design(int capability) {
  if (has_tcgen05(capability)) {
    return "the tensor cores by `tcgen05.mma`, with sums in tensor memory and operands brought by "
           "TMA through several stages of shared memory with mbarriers. `mma.sync` and plain "
           "arithmetic reach a small part of the peak.";
  }
  return has_wgmma(capability)
             ? "the tensor cores by `wgmma`, with operands in swizzled shared memory that one "
               "producer warp fills by TMA, three or more stages ahead (mbarriers), while two "
               "other warpgroups multiply a tile of 128 x 256 or so; the blocks stay and walk over "
               "the tiles. `mma.sync` reaches about 60 % of the peak, plain arithmetic a few per "
               "cent."
             : "the tensor cores by `mma.sync`, with tiles of 128 x 128 or more for a block, "
               "operands brought by asynchronous copies through three or more stages of swizzled "
               "shared memory and read by `ldmatrix`.";
}

std::string_view attention_design(int capability) {
  return has_wgmma(capability)
             ? "the tensor cores by `wgmma`, while one producer warp brings tiles of keys and "
               "values by TMA through two or more stages, and two warpgroups (three where a head "
               "is at "
               "most 64) own 64 rows of queries each."
         : has_tcgen05(capability)
             ? "the tensor cores by `tcgen05.mma` with scores and sums in tensor memory, while one "
               "warp brings keys and values by TMA and two warpgroups compute the softmax of two "
               "tiles of queries in turns."
             : "the tensor cores by `mma.sync`, with 64 to 128 rows of queries for a block, and "
               "keys and values brought by asynchronous copies two stages ahead.";
}

/// The template for this work; empty: none.
std::string_view template_of(const ProposalContext& context) {
  const bool is_dense = operations_per_byte(*context.task, context.device) >= kMostlyArithmetic;
  const bool has_tensor_cores =
      context.device == "cuda" && context.task->tolerance.precision != tasks::Precision::F64;
  switch (kind_of_work(*context.task)) {
  case WorkKind::Attention:
    return !is_dense ? "work_decode" : has_tensor_cores ? "work_attention" : "";
  case WorkKind::Product:
    return !is_dense ? "work_thin_product" : has_tensor_cores ? "work_product" : "";
  case WorkKind::Convolution:
    return "work_convolution";
  case WorkKind::Scan:
    return "work_scan";
  case WorkKind::Sparse:
    return "work_sparse";
  case WorkKind::Reduction:
    return "work_reduction";
  case WorkKind::Streaming:
    return "work_streaming";
  case WorkKind::Other:
    return "";
  }
  return "";
}

} // namespace

MaybeValues render_work(const ProposalContext& context, std::string_view file) {
  if (context.task == nullptr || context.device == "cpu" || template_of(context) != file) {
    return std::nullopt;
  }
  const int capability = tasks::compute_capability(context.facts.architecture);
  const bool is_attention = file == "work_attention";
  const bool is_f32 = context.task->tolerance.precision == tasks::Precision::F32;
  return Values{{"intensity", fmt::format("up to {:.3g} operations for a byte",
                                          operations_per_byte(*context.task, context.device))},
                {"design", std::string(is_f32         ? kFloatDesign
                                       : is_attention ? attention_design(capability)
                                                      : product_design(capability))}};
}

bool multiplies_by_wgmma(const ProposalContext& context) {
  if (context.task == nullptr) {
    return has_wgmma(tasks::compute_capability(context.facts.architecture));
  }
  const std::string_view file = context.device == "cuda" ? template_of(context) : "";
  const tasks::Precision precision = context.task->tolerance.precision;
  return (file == "work_attention" || file == "work_product" || file == "work_convolution") &&
         precision != tasks::Precision::F32 && precision != tasks::Precision::F64 &&
         has_wgmma(tasks::compute_capability(context.facts.architecture));
}

} // namespace winnow::agents
