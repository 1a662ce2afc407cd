// The functions of the Python module with which extension.py checks itself.
/// Runs the task's reference. `answers` and `magnitudes`: pointers of float64 tensors (answers that
/// are integers: of the task's dtype) for the task's tensors in order; 0 for inputs.
void check_reference(std::int64_t shape, std::vector<std::int64_t> begins,
                     std::vector<std::int64_t> answers, std::vector<std::int64_t> magnitudes) {
  const plan::Shape<plan::Sizes>& at = kShapes.at(static_cast<std::size_t>(shape));
  const std::vector<plan::Buffer> inputs = plan::task_buffers(at, begins);
  std::vector<plan::Buffer> expected;
  for (std::size_t i = 0; i < kReferenceTensors.size(); ++i) {
    const plan::Tensor& tensor = kReferenceTensors[i];
    const auto own = static_cast<std::size_t>(tensor.reference);
    const bool is_magnitude = kTensors[own].magnitude == static_cast<int>(i);
    const std::int64_t to = is_magnitude ? magnitudes.at(own) : answers.at(own);
    expected.push_back({tensor.name, tensor.dtype, tensor.element_bytes, inputs[own].count,
                        tensor.role == plan::Role::Input ? inputs[own].data : plan::data_of(to)});
  }
  plan::run_reference<ReferencePlan>(plan::this_device(), at.sizes, kReferenceTensors.data(),
                                     inputs, expected);
}
/// `wanted_is_double`: of the element's dtype otherwise. `slack`: what the limits are multiplied
/// by.
std::tuple<bool, std::string> check_compare(std::int64_t shape, std::int64_t tensor,
                                            std::int64_t got, std::int64_t wanted,
                                            bool wanted_is_double, std::int64_t magnitude,
                                            double slack) {
  const auto index = static_cast<std::size_t>(tensor);
  const plan::TensorAtShape& at = kShapes.at(static_cast<std::size_t>(shape)).tensors.at(index);
  const plan::Tensor& spec = kTensors.at(index);
  plan::Limits limits = at.limits;
  limits.multiple *= slack;
  limits.norm_multiple *= slack;
  limits.rounding *= slack;
  limits.absolute *= slack;
  const plan::Buffer own{spec.name, spec.dtype, spec.element_bytes, at.count, plan::data_of(got)};
  plan::Buffer other = own;
  other.data = plan::data_of(wanted);
  if (wanted_is_double) {
    other.dtype = plan::DType::F64;
    other.element_bytes = 8;
  }
  const plan::Buffer scale{spec.name, plan::DType::F64, 8, at.count, plan::data_of(magnitude)};
  const plan::Comparison found = plan::compare(own, other, scale, limits);
  return {found.good, found.text};
}
