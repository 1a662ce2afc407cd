#include "agents/prompts/work_kind.h"
#include "tasks/catalogue.h"

#include <map>

#include <gtest/gtest.h>

namespace winnow::agents {
namespace {

const std::filesystem::path kCatalogue =
    std::filesystem::path(WINNOW_SOURCE_DIR) / "tasks/catalogue";

TEST(KindOfWork, OfTasksOfTheCatalogue) {
  using enum WorkKind;
  const std::map<std::string, WorkKind> kinds{{"attention_causal", Attention},
                                              {"attention_decode_gqa", Attention},
                                              {"merge_attention_states", Streaming},
                                              {"linear_attention_gated", Other},
                                              {"neighborhood_attention", Reduction},
                                              {"conv2d", Convolution},
                                              {"conv_bn_relu", Convolution},
                                              {"long_convolution", Other},
                                              {"gemm_f16", Product},
                                              {"gemm_bias_gelu", Product},
                                              {"moe_grouped_gemm", Product},
                                              {"gemv_f32", Product},
                                              {"axpy", Streaming},
                                              {"gelu", Streaming},
                                              {"cumsum_rows", Scan},
                                              {"spmv_csr", Sparse},
                                              {"conjugate_gradient", Other},
                                              {"row_softmax", Reduction},
                                              {"rmsnorm_backward", Reduction},
                                              {"cross_entropy_backward", Reduction},
                                              {"histogram", Other},
                                              {"nbody", Other},
                                              {"fft_batched", Other},
                                              {"lbm_d2q9", Other}};
  for (const auto& [name, kind] : kinds) {
    EXPECT_EQ(kind_of_work(tasks::find_task(kCatalogue, name)), kind) << name;
  }
}

TEST(KindOfWork, OfAModuleByItsCalls) {
  tasks::Task task;
  const auto kind_of = [&](const std::string& forward) {
    task.reference_python = "def forward(self, x):\n    return " + forward;
    return kind_of_work(task);
  };
  EXPECT_EQ(kind_of("F.scaled_dot_product_attention(x, x, x)"), WorkKind::Attention);
  EXPECT_EQ(kind_of("torch.softmax(x @ x.T, -1) @ x"), WorkKind::Attention);
  EXPECT_EQ(kind_of("torch.relu(nn.Conv2d(3, 4, 3)(x))"), WorkKind::Convolution);
  EXPECT_EQ(kind_of("torch.softmax(nn.Linear(3, 4)(x), -1)"), WorkKind::Product);
  EXPECT_EQ(kind_of("torch.cumsum(x, 1)"), WorkKind::Scan);
  EXPECT_EQ(kind_of("nn.BatchNorm2d(3)(x)"), WorkKind::Reduction);
  EXPECT_EQ(kind_of("torch.topk(x, 3)"), WorkKind::Other);
  EXPECT_EQ(kind_of("torch.tanh(x)"), WorkKind::Streaming);
  task.reference_python.clear();
  EXPECT_EQ(kind_of_work(task), WorkKind::Other);
}

} // namespace
} // namespace winnow::agents
