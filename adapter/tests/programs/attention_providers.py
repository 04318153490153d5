"""FlashAttention under the names by which SGLang and vLLM import it, and partial results added up as in a ring."""

import importlib.util

import torch
from flash_attn_interface import _flash_attn_forward, flash_attn_func

assert importlib.util.find_spec("sgl_kernel.flash_attn") is not None
import sgl_kernel.flash_attn
from sgl_kernel.flash_attn import flash_attn_varlen_func

assert sgl_kernel.flash_attn.flash_attn_func is flash_attn_func
try:
    import sgl_kernel.elementwise
except ModuleNotFoundError:
    pass
else:
    raise AssertionError("nobody has it")

torch.manual_seed(0)
q = torch.randn(2, 12, 6, 16, device="cuda")
k, v = (torch.randn(2, 12, 2, 16, device="cuda") for _ in range(2))


def expected(q, k, v, **options):
    return torch.nn.functional.scaled_dot_product_attention(
        q.transpose(1, 2), k.transpose(1, 2), v.transpose(1, 2), enable_gqa=True, **options
    ).transpose(1, 2)


for causal in (False, True):
    torch.testing.assert_close(
        flash_attn_func(q, k, v, causal=causal), expected(q, k, v, is_causal=causal)
    )
result, lse = flash_attn_func(q, k, v, softmax_scale=0.5, return_softmax_lse=True)
torch.testing.assert_close(result, expected(q, k, v, scale=0.5))
assert result.is_cuda and lse.shape == (2, 6, 12) and lse.dtype == torch.float32

# Sequences of 5 and 7 rows, and a keyword that this provider does not know.
starts = torch.tensor([0, 5, 12], dtype=torch.int32, device="cuda")
packed = flash_attn_varlen_func(q[0], k[0], v[0], starts, starts, 7, 7, causal=True, only_qv=False)
for rows in (slice(0, 5), slice(5, 12)):
    torch.testing.assert_close(
        packed[None, rows], expected(q[:1, rows], k[:1, rows], v[:1, rows], is_causal=True)
    )

# A ring: each step has a part of the keys, and the sums say what a part weighs.
total = total_lse = None
for part in (slice(0, 3), slice(3, 8), slice(8, 12)):
    out, lse, *_ = _flash_attn_forward(
        q, k[:, part], v[:, part], softmax_scale=None, causal=False, window_size=(-1, -1)
    )
    lse = lse.transpose(1, 2).unsqueeze(-1)
    if total is None:
        total, total_lse = out, lse
    else:
        both = torch.logaddexp(total_lse, lse)
        total = total * (total_lse - both).exp() + out * (lse - both).exp()
        total_lse = both
torch.testing.assert_close(total, expected(q, k, v))
try:
    _flash_attn_forward(q, k, v, softcap=30.0)
except NotImplementedError as error:
    assert "takes no softcap" in str(error)
else:
    raise AssertionError("a feature that is not there was dropped")
