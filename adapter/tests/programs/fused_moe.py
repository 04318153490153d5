"""A fused mixture of experts, whose blocks come from a table of tuned numbers, found as vLLM and SGLang find theirs."""

import json
import os
import pathlib

import torch

KEYS = ("BLOCK_SIZE_M", "BLOCK_SIZE_N", "BLOCK_SIZE_K")


def table(variable, experts, width):
    """The numbers for these shapes on this device, by the number of tokens."""
    device = torch.cuda.get_device_name().replace(" ", "_")
    name = f"E={experts},N={width},device_name={device}.json"
    found = json.loads(pathlib.Path(os.environ[variable], name).read_text())
    return {int(tokens): numbers for tokens, numbers in found.items()}


def matmul(rows, weight, blocks):
    """rows @ weight.T, block by block."""
    m, n, k = (blocks[key] for key in KEYS)
    result = rows.new_zeros(len(rows), len(weight))
    for i in range(0, len(rows), m):
        for j in range(0, len(weight), n):
            for part in range(0, rows.shape[1], k):
                inner = slice(part, part + k)
                result[i : i + m, j : j + n] += rows[i : i + m, inner] @ weight[j : j + n, inner].T
    return result


def fused_experts(x, gate_up, down, weights, chosen, blocks):
    """Each token's experts, whose tokens are brought together first."""
    order = chosen.flatten().argsort(stable=True)
    tokens = order // chosen.shape[1]
    counts = chosen.flatten().bincount(minlength=len(gate_up)).tolist()
    results = torch.empty_like(x[tokens])
    start = 0
    for expert, count in enumerate(counts):
        rows = slice(start, start + count)
        gate, up = matmul(x[tokens[rows]], gate_up[expert], blocks).chunk(2, dim=1)
        results[rows] = matmul(torch.nn.functional.silu(gate) * up, down[expert], blocks)
        start += count
    results *= weights.flatten()[order].unsqueeze(1)
    return torch.zeros_like(x).index_add_(0, tokens, results)


def plain(x, gate_up, down, weights, chosen):
    """The same without blocks, on the host."""
    gate, up = torch.einsum("th,ewh->tew", x, gate_up).chunk(2, dim=2)
    every = torch.einsum("tew,ehw->teh", torch.nn.functional.silu(gate) * up, down)
    picked = every.gather(1, chosen.unsqueeze(2).expand(-1, -1, x.shape[1]))
    return (picked * weights.unsqueeze(2)).sum(1)


def layer(tokens, experts=8, width=64, hidden=48, chosen=2):
    """What a layer computes with: the tokens, the weights, and which experts take part."""
    torch.manual_seed(tokens)
    x = torch.randn(tokens, hidden)
    scores = torch.randn(tokens, experts).softmax(1).topk(chosen)
    gate_up = torch.randn(experts, 2 * width, hidden) / hidden**0.5
    down = torch.randn(experts, hidden, width) / width**0.5
    return x, gate_up, down, scores.values, scores.indices


if __name__ == "__main__":
    for variable in ("VLLM_TUNED_CONFIG_FOLDER", "SGLANG_MOE_CONFIG_DIR"):
        tuned = table(variable, experts=8, width=64)
        assert all(set(numbers) >= set(KEYS) for numbers in tuned.values())
        for tokens in (1, 5, 70):
            blocks = tuned[min(tuned, key=lambda size: abs(size - tokens))]
            arguments = layer(tokens)
            result = fused_experts(*(tensor.cuda() for tensor in arguments), blocks)
            torch.testing.assert_close(result.cpu(), plain(*arguments))
