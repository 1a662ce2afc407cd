#pragma once

#include "tasks/plan/kernel_file.h"
#include "tasks/task.h"

#include <string>

namespace winnow::tasks {

/// A launch plan as C++: a struct NAME with static functions.
///   template <class S> static void scratch(const plan::Device&, std::vector<plan::Buffer>&);
///   template <class S> static void prepare(cudaStream_t, const plan::Device&, const
///   plan::Buffer*); template <class S> static void run(cudaStream_t, const plan::Device&, const
///   plan::Buffer*);
/// `S` has the sizes of a shape and the parameters as static members. The buffers are the tensors
/// of `task` in order, then the scratch of the plan. `scope`: the namespace of the kernels, "::" or
/// "::reference::". Throws UsageError as host_program() does.
std::string plan_cpp(const KernelFile& file, const Task& task, const std::string& name,
                     const std::string& scope);

/// The name in C++ for a name of the plan or the task: another one if C++ has a use for it.
std::string cpp_name(const std::string& name);

/// "winnow::tasks::DType::F32"
std::string dtype_cpp(DType dtype);

} // namespace winnow::tasks
