#include "evaluators/device/cuda/cublaslt.h"

#include <fmt/format.h>

#if __has_include(<cublasLt.h>)

#include "base/function_finder.h"

#include <cstdint>
#include <filesystem>
#include <map>
#include <tuple>

#include <cublasLt.h>

namespace winnow::evaluators {
namespace {

namespace fs = std::filesystem;

#define WINNOW_CUBLASLT_FUNCTIONS(X)                                                               \
  X(cublasLtCreate)                                                                                \
  X(cublasLtDestroy)                                                                               \
  X(cublasLtGetStatusString)                                                                       \
  X(cublasLtMatmul)                                                                                \
  X(cublasLtMatmulAlgoGetHeuristic)                                                                \
  X(cublasLtMatmulDescCreate)                                                                      \
  X(cublasLtMatmulDescDestroy)                                                                     \
  X(cublasLtMatmulDescSetAttribute)                                                                \
  X(cublasLtMatmulPreferenceCreate)                                                                \
  X(cublasLtMatmulPreferenceDestroy)                                                               \
  X(cublasLtMatmulPreferenceSetAttribute)                                                          \
  X(cublasLtMatrixLayoutCreate)                                                                    \
  X(cublasLtMatrixLayoutDestroy)

#define WINNOW_TEXT(name) #name
#define WINNOW_SYMBOL(name) WINNOW_TEXT(name) // after macro expansion

struct Functions {
#define WINNOW_CUBLASLT_MEMBER(name) decltype(&::name) name = nullptr;
  WINNOW_CUBLASLT_FUNCTIONS(WINNOW_CUBLASLT_MEMBER)
#undef WINNOW_CUBLASLT_MEMBER
};

// NVIDIA's recommendation for Hopper; older GPUs need less.
constexpr std::size_t kWorkspaceBytes = std::size_t{32} << 20U;

[[noreturn]] void refuse(const std::string& call, const std::string& code, const std::string& why) {
  throw GpuError(call, code, why, GpuFailure::InvalidLaunch, false);
}

std::vector<std::string> library_paths() {
  std::vector<std::string> paths;
  for (const char* name : {"libcublasLt.so.13", "libcublasLt.so.12"}) {
    paths.emplace_back(name);
    std::error_code ignored;
    for (const fs::directory_entry& entry : fs::directory_iterator("/usr/local", ignored)) {
      if (entry.path().filename().string().starts_with("cuda")) {
        paths.push_back((entry.path() / "lib64" / name).string());
      }
    }
  }
  return paths;
}

void* open_library() {
  for (const std::string& path : library_paths()) {
    if (void* library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL)) {
      return library;
    }
  }
  refuse("dlopen", "libcublasLt.so.13",
         "cuBLASLt is not installed here; it comes with the CUDA toolkit (libcublas)");
}

Functions load() {
  Functions functions;
  FunctionFinder finder(open_library());
#define WINNOW_CUBLASLT_FIND(name) finder.find(WINNOW_SYMBOL(name), functions.name);
  WINNOW_CUBLASLT_FUNCTIONS(WINNOW_CUBLASLT_FIND)
#undef WINNOW_CUBLASLT_FIND
  if (!finder.missing().empty()) {
    refuse("dlsym", finder.missing(), "this libcublasLt has no such function");
  }
  return functions;
}

const Functions& functions() {
  static const Functions loaded = load();
  return loaded;
}

void check(cublasStatus_t status, const char* call) {
  if (status != CUBLAS_STATUS_SUCCESS) {
    refuse(call, fmt::format("cublasStatus_t {}", static_cast<int>(status)),
           functions().cublasLtGetStatusString(status));
  }
}

/// A handle and the function that destroys it.
template <class Handle> class Owned {
public:
  using Destroy = cublasStatus_t (*)(Handle);
  explicit Owned(Destroy destroy) : destroy_(destroy) {}
  ~Owned() {
    if (handle_ != nullptr) {
      destroy_(handle_);
    }
  }
  Owned(const Owned&) = delete; // owns the handle
  Owned& operator=(const Owned&) = delete;
  Handle* out() { return &handle_; }
  Handle get() const { return handle_; }

private:
  Destroy destroy_;
  Handle handle_ = nullptr;
};

cudaDataType_t data_type(tasks::DType type) {
  switch (type) {
  case tasks::DType::F32:
    return CUDA_R_32F;
  case tasks::DType::F16:
    return CUDA_R_16F;
  case tasks::DType::BF16:
    return CUDA_R_16BF;
  case tasks::DType::F8E4M3:
    return CUDA_R_8F_E4M3;
  case tasks::DType::F8E5M2:
    return CUDA_R_8F_E5M2;
  case tasks::DType::I8:
    return CUDA_R_8I;
  case tasks::DType::I32:
    return CUDA_R_32I;
  default:
    refuse("matmul", std::string(to_string(type)), "cuBLASLt cannot multiply this type");
  }
}

cublasComputeType_t compute_type(tasks::LibraryCompute compute) {
  switch (compute) {
  case tasks::LibraryCompute::TF32:
    return CUBLAS_COMPUTE_32F_FAST_TF32;
  case tasks::LibraryCompute::I32:
    return CUBLAS_COMPUTE_32I;
  case tasks::LibraryCompute::F32:
    break;
  }
  return CUBLAS_COMPUTE_32F;
}

/// One matrix product and its algorithm. It can be queued any number of times.
///
/// cuBLASLt uses column-major matrices. The row-major product c = a b is the column-major product
/// c^T = b^T a^T, so b is passed first. A row-major k x n matrix is a column-major n x k matrix
/// with leading dimension n.
class Product {
public:
  Product(cublasLtHandle_t handle, const tasks::LibraryStep& step)
      : handle_(handle), step_(step), description_(functions().cublasLtMatmulDescDestroy),
        first_(functions().cublasLtMatrixLayoutDestroy),
        second_(functions().cublasLtMatrixLayoutDestroy),
        result_(functions().cublasLtMatrixLayoutDestroy) {
    describe();
    choose();
  }

  void queue(GpuAddress a, GpuAddress b, GpuAddress c, GpuAddress workspace,
             std::uintptr_t stream) {
    const bool integers = step_.compute == tasks::LibraryCompute::I32;
    const auto real_alpha = static_cast<float>(step_.alpha);
    const auto integer_alpha = static_cast<std::int32_t>(step_.alpha);
    const float real_zero = 0;
    const std::int32_t integer_zero = 0;
    const void* alpha = integers ? static_cast<const void*>(&integer_alpha) : &real_alpha;
    const void* beta = integers ? static_cast<const void*>(&integer_zero) : &real_zero;
    check(functions().cublasLtMatmul(
              handle_, description_.get(), alpha, reinterpret_cast<const void*>(b), first_.get(),
              reinterpret_cast<const void*>(a), second_.get(), beta,
              reinterpret_cast<const void*>(c), result_.get(), reinterpret_cast<void*>(c),
              result_.get(), &algorithm_.algo, reinterpret_cast<void*>(workspace), kWorkspaceBytes,
              reinterpret_cast<cudaStream_t>(stream)),
          "cublasLtMatmul");
  }

private:
  void describe() {
    const bool integers = step_.compute == tasks::LibraryCompute::I32;
    check(functions().cublasLtMatmulDescCreate(description_.out(), compute_type(step_.compute),
                                               integers ? CUDA_R_32I : CUDA_R_32F),
          "cublasLtMatmulDescCreate");
    const cublasOperation_t first = step_.b_transposed ? CUBLAS_OP_T : CUBLAS_OP_N;
    check(functions().cublasLtMatmulDescSetAttribute(
              description_.get(), CUBLASLT_MATMUL_DESC_TRANSA, &first, sizeof(first)),
          "cublasLtMatmulDescSetAttribute");
    if (step_.b_transposed) {
      layout(first_, step_.b_type, step_.k, step_.n);
    } else {
      layout(first_, step_.b_type, step_.n, step_.k);
    }
    layout(second_, step_.a_type, step_.k, step_.m);
    layout(result_, step_.c_type, step_.n, step_.m);
  }

  static void layout(Owned<cublasLtMatrixLayout_t>& matrix, tasks::DType type, std::int64_t rows,
                     std::int64_t columns) {
    check(functions().cublasLtMatrixLayoutCreate(matrix.out(), data_type(type),
                                                 static_cast<std::uint64_t>(rows),
                                                 static_cast<std::uint64_t>(columns), rows),
          "cublasLtMatrixLayoutCreate");
  }

  void choose() {
    Owned<cublasLtMatmulPreference_t> preference(functions().cublasLtMatmulPreferenceDestroy);
    check(functions().cublasLtMatmulPreferenceCreate(preference.out()),
          "cublasLtMatmulPreferenceCreate");
    const std::uint64_t workspace = kWorkspaceBytes;
    check(functions().cublasLtMatmulPreferenceSetAttribute(preference.get(),
                                                           CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES,
                                                           &workspace, sizeof(workspace)),
          "cublasLtMatmulPreferenceSetAttribute");
    int found = 0;
    const cublasStatus_t status = functions().cublasLtMatmulAlgoGetHeuristic(
        handle_, description_.get(), first_.get(), second_.get(), result_.get(), result_.get(),
        preference.get(), 1, &algorithm_, &found);
    if (status != CUBLAS_STATUS_SUCCESS || found == 0 ||
        algorithm_.state != CUBLAS_STATUS_SUCCESS) {
      refuse("cublasLtMatmulAlgoGetHeuristic",
             fmt::format("cublasStatus_t {}", static_cast<int>(status)),
             fmt::format("cuBLASLt has no algorithm for m = {}, n = {}, k = {} in {} and {} (8-bit "
                         "types need multiples of 16)",
                         step_.m, step_.n, step_.k, to_string(step_.a_type),
                         to_string(step_.compute)));
    }
  }

  cublasLtHandle_t handle_;
  tasks::LibraryStep step_;
  Owned<cublasLtMatmulDesc_t> description_;
  Owned<cublasLtMatrixLayout_t> first_;
  Owned<cublasLtMatrixLayout_t> second_;
  Owned<cublasLtMatrixLayout_t> result_;
  cublasLtMatmulHeuristicResult_t algorithm_{};
};

class CublasLt final : public GpuLibrary {
public:
  explicit CublasLt(GpuDriver& driver) : driver_(driver), handle_(functions().cublasLtDestroy) {
    check(functions().cublasLtCreate(handle_.out()), "cublasLtCreate");
  }

  ~CublasLt() override {
    try {
      if (workspace_ != 0) {
        driver_.release(workspace_);
      }
    } catch (const GpuError&) { // the context is lost, and the workspace with it
    }
  }
  CublasLt(const CublasLt&) = delete; // owns device memory
  CublasLt& operator=(const CublasLt&) = delete;

  void queue(const tasks::LibraryStep& step, GpuAddress a, GpuAddress b, GpuAddress c) override {
    if (workspace_ == 0) {
      workspace_ = driver_.allocate(kWorkspaceBytes);
    }
    product(step).queue(a, b, c, workspace_, driver_.stream());
  }

private:
  using Key = std::tuple<tasks::DType, tasks::DType, tasks::DType, std::int64_t, std::int64_t,
                         std::int64_t, bool, tasks::LibraryCompute, double>;

  Product& product(const tasks::LibraryStep& step) {
    const Key key{step.a_type, step.b_type,       step.c_type,  step.m,    step.n,
                  step.k,      step.b_transposed, step.compute, step.alpha};
    return products_.try_emplace(key, handle_.get(), step).first->second;
  }

  GpuDriver& driver_;
  Owned<cublasLtHandle_t> handle_;
  GpuAddress workspace_ = 0;
  std::map<Key, Product> products_;
};

} // namespace

std::unique_ptr<GpuLibrary> open_cuda_library(const std::string& name, GpuDriver& driver) {
  if (name != "cublaslt") {
    refuse("open", name, "CUDA devices have no library of this name");
  }
  return std::make_unique<CublasLt>(driver);
}

} // namespace winnow::evaluators

#else

namespace winnow::evaluators {

std::unique_ptr<GpuLibrary> open_cuda_library(const std::string& name, GpuDriver& /*driver*/) {
  throw GpuError("open", name, "this program was built without cublasLt.h",
                 GpuFailure::InvalidLaunch, false);
}

} // namespace winnow::evaluators

#endif
