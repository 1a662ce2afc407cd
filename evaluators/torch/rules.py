"""What the rounding error of an operation is proportional to.

Of a product it is the sum of the terms' absolute values; of a sum the same, and it grows with the
root of the number of terms; of a normalisation its result and that of its row. Views, copies and
maxima commit no error. All other operations err in proportion to their result.
"""

import torch

EXACT = frozenset("""
    view _unsafe_view reshape t transpose permute expand slice select squeeze unsqueeze detach alias
    as_strided split split_with_sizes chunk unbind _reshape_alias diagonal clone arange copy _to_copy
    lift lift_fresh lift_fresh_copy cat stack constant_pad_nd pad reflection_pad1d reflection_pad2d
    replication_pad1d replication_pad2d replication_pad3d repeat flip roll gather index index_select
    take embedding relu relu6 threshold maximum minimum max min amax amin aminmax cummax cummin clamp
    clamp_min clamp_max hardtanh neg abs where masked_fill masked_select masked_scatter scatter tril
    triu sort topk kthvalue median zero fill unfold im2col sign eq gt lt ge le ne logical_and
    logical_or logical_not isnan isinf nonzero argmax argmin argsort bernoulli empty empty_strided
    zeros ones full scalar_tensor _local_scalar_dense item max_pool1d max_pool2d max_pool3d
    max_pool2d_with_indices max_pool3d_with_indices max_pool1d_with_indices adaptive_max_pool1d
    adaptive_max_pool2d adaptive_max_pool3d new_empty new_zeros new_ones new_full new_empty_strided
    empty_like zeros_like ones_like full_like rand randn rand_like randn_like uniform normal
    upsample_nearest1d upsample_nearest2d upsample_nearest3d real imag view_as_real view_as_complex
    conj _conj resolve_conj floor ceil round trunc one_hot index_copy index_fill narrow
    pixel_shuffle channel_shuffle native_channel_shuffle movedim eye linspace resize set
    bitwise_and bitwise_or bitwise_not expand_copy slice_copy view_copy unsafe_split
    unsafe_split_with_sizes unsafe_chunk _neg_view resolve_neg index_put slice_scatter select_scatter
    diagonal_scatter pixel_unshuffle tril_indices triu_indices bucketize searchsorted logical_xor
    isfinite fmod remainder nan_to_num heaviside mode copysign _upsample_nearest_exact1d
    _upsample_nearest_exact2d _upsample_nearest_exact3d fractional_max_pool2d put
""".split())

PRODUCTS = frozenset("""
    mm addmm bmm baddbmm convolution _convolution mkldnn_convolution cudnn_convolution
    convolution_overrideable mv addmv dot vdot cudnn_convolution_transpose
""".split())

SUMS = frozenset("""
    sum mean nansum cumsum avg_pool1d avg_pool2d avg_pool3d adaptive_avg_pool1d _adaptive_avg_pool2d
    _adaptive_avg_pool3d adaptive_avg_pool2d adaptive_avg_pool3d trace scatter_add index_add
    embedding_bag addcmul col2im
""".split())

NORMS = frozenset("""
    native_layer_norm native_group_norm native_batch_norm _native_batch_norm_legit
    _native_batch_norm_legit_no_training _native_batch_norm_legit_functional _batch_norm_with_update
    _batch_norm_no_update cudnn_batch_norm _fused_rms_norm rms_norm var var_mean std std_mean norm
    linalg_vector_norm prod cumprod mse_loss smooth_l1_loss huber_loss binary_cross_entropy
    binary_cross_entropy_with_logits kl_div nll_loss_forward nll_loss2d_forward l1_loss
    soft_margin_loss
""".split())

SOFTMAXES = frozenset("_softmax _safe_softmax _log_softmax logsumexp".split())


def absolute(value):
    if isinstance(value, torch.Tensor):
        return value.abs() if value.is_floating_point() else value
    return value


def size_before(func, name, args, kwargs):
    """The size of an operation that its arguments tell; None for others."""
    if name in ("add", "sub", "rsub"):
        other = abs(args[1]) * abs(kwargs.get("alpha", 1))
        return ((abs(args[0]) + other) * 0.5).double() if args[0].is_floating_point() else None
    if name == "gelu":  # 0.5 x (1 + erf(x / sqrt 2)) cancels for negative x
        return args[0].abs()
    if name not in PRODUCTS and name not in SUMS:
        return None
    kwargs = {key: value for key, value in kwargs.items() if key != "out"}
    result = func(*[absolute(value) for value in args], **kwargs)
    result = result[0] if isinstance(result, (list, tuple)) else result
    share = 32 if name in PRODUCTS else 4  # products are summed in blocks by every library
    return result * (1 + terms(name, args, result) ** 0.5 / share)


def size_after(name, args, result):
    """The size of an operation that its result tells; None: as large as the result."""
    result = result[0] if isinstance(result, (list, tuple)) else result
    if not isinstance(result, torch.Tensor) or result.dtype != torch.float64:
        return None
    if name in NORMS:
        size = result.abs() + result.pow(2).mean().sqrt()
        return size * (1 + terms(name, args, result) ** 0.5 / 4)
    if name in SOFTMAXES:
        steps = terms(name, args, result) ** 0.5 / 4
        if name in ("_softmax", "_safe_softmax"):  # exp() passes on the rounding of its argument
            return result * (1 + result.clamp(min=1e-300).log().abs() + steps)
        return (result.abs() + 1) * (1 + steps)
    return None


def terms(name, args, result):
    """How many terms one element of the result is a sum of."""
    x = args[0]
    if name in ("addmm", "baddbmm", "addmv"):
        return args[1].shape[-1]
    if name in ("mm", "bmm", "mv", "dot", "vdot"):
        return x.shape[-1]
    if "convolution" in name:
        return convolution_terms(args)
    if name in ("_softmax", "_safe_softmax", "_log_softmax", "cumsum", "cumprod"):
        return x.shape[args[1]] if x.dim() else 1
    if name in ("native_layer_norm", "_fused_rms_norm", "rms_norm"):
        return max(1, torch.Size(args[1]).numel())
    if name == "native_group_norm":
        return x.numel() / max(1, args[3] * args[6])
    if "batch_norm" in name:
        return x.numel() / x.shape[1]
    if name in ("scatter_add", "index_add", "addcmul"):
        return 1
    return max(1, x.numel() / max(1, result.numel()))


def convolution_terms(args):
    weight = args[1]
    transposed = len(args) > 6 and args[6] is True
    if transposed:
        return max(1, weight.shape[0] * weight[0, 0].numel() / max(1, args[8]))
    return max(1, weight.numel() / weight.shape[0])
