"""FlexAttention with a score of one's own."""

import torch
from torch.nn.attention.flex_attention import flex_attention

q, k, v = (torch.randn(1, 2, 16, 8, device="cuda") for _ in range(3))


def causal(score, batch, head, query, key):
    return torch.where(query >= key, score, float("-inf"))


found = flex_attention(q, k, v, score_mod=causal)
expected = torch.nn.functional.scaled_dot_product_attention(
    q.cpu(), k.cpu(), v.cpu(), is_causal=True
)
torch.testing.assert_close(found.cpu(), expected, atol=1e-5, rtol=1e-5)
