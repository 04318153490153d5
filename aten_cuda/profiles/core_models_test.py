"""What ordinary models call is in the core profile.

Models, losses, optimizers and the rest of a training program run on the CPU while the operators that reach the
dispatcher are written down. Those of them that have a CUDA kernel at all have to be registered by core. What CUDA
calls in other places than the CPU (convolutions, recurrent cells) is named by core itself and held against the
sources by //aten_cuda/codegen:closure_test.
"""

import io
import json
import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import torch
import torch._dynamo  # Optimizers import it when first used, and it tries operators out meanwhile.
from absl.testing import absltest, parameterized
from torch import nn
from torch.nn import functional
from torch.utils._python_dispatch import TorchDispatchMode

SRCDIR = Path(os.environ["TEST_SRCDIR"])


def registrations(variable: str) -> set[str]:
    """The operators for the CUDA key in the registrations.json that an environment variable names."""
    data: dict[str, list[str]] = json.loads((SRCDIR / os.environ[variable]).read_text())
    return {name.removeprefix("aten::") for name in data["CUDA"]}


class Recorder(TorchDispatchMode):
    """Writes down the operators that are called, such as `add.Tensor`."""

    def __init__(self) -> None:
        super().__init__()
        self.names: set[str] = set()

    def __torch_dispatch__(
        self,
        func: Any,
        types: Sequence[type],
        args: tuple[Any, ...] = (),
        kwargs: Mapping[str, Any] | None = None,
    ) -> Any:
        if func.namespace == "aten":
            self.names.add(func.name().removeprefix("aten::"))
        return func(*args, **(kwargs or {}))


def train(model: nn.Module, *inputs: torch.Tensor) -> None:
    """One forward and one backward pass."""
    output = model(*inputs)
    while isinstance(output, tuple):
        output = output[0]
    output.square().mean().backward()


def mlp() -> None:
    activations = [
        nn.ReLU(),
        nn.GELU(),
        nn.SiLU(),
        nn.Tanh(),
        nn.Sigmoid(),
        nn.ELU(),
        nn.LeakyReLU(),
    ]
    activations += [
        nn.Softplus(),
        nn.Hardswish(),
        nn.Hardsigmoid(),
        nn.PReLU(),
        nn.ReLU6(),
        nn.SELU(),
    ]
    for activation in activations:
        train(
            nn.Sequential(nn.Linear(8, 8), activation, nn.Dropout(0.1), nn.Linear(8, 4)),
            torch.randn(3, 8),
        )


def cnn() -> None:
    model = nn.Sequential(
        nn.Conv2d(3, 8, 3, padding=1),
        nn.BatchNorm2d(8),
        nn.ReLU(inplace=True),
        nn.MaxPool2d(2),
        nn.Conv2d(8, 8, 3, groups=8),
        nn.GroupNorm(2, 8),
        nn.Upsample(scale_factor=2, mode="bilinear"),
        nn.Upsample(scale_factor=2),
        nn.ConvTranspose2d(8, 4, 2, stride=2),
        nn.AvgPool2d(2),
        nn.AdaptiveMaxPool2d(4),
        nn.AdaptiveAvgPool2d(1),
        nn.Flatten(),
        nn.LogSoftmax(1),
    )
    train(model, torch.randn(2, 3, 16, 16))
    with torch.no_grad():
        model.eval()(torch.randn(2, 3, 16, 16))
    train(
        nn.Sequential(nn.Conv1d(4, 4, 3), nn.BatchNorm1d(4), nn.MaxPool1d(2)), torch.randn(2, 4, 9)
    )
    train(nn.InstanceNorm2d(3, affine=True), torch.randn(2, 3, 4, 4))
    train(nn.Unfold(2), torch.randn(1, 2, 4, 4, requires_grad=True))


def rnn() -> None:
    for cell in (nn.RNN, nn.LSTM, nn.GRU):
        train(cell(4, 6, num_layers=2, bidirectional=True, dropout=0.1), torch.randn(5, 2, 4))
    packed = nn.utils.rnn.pack_padded_sequence(torch.randn(5, 2, 4), torch.tensor([5, 3]))
    output, _ = nn.GRU(4, 6)(packed)
    padded, _ = nn.utils.rnn.pad_packed_sequence(output)
    padded.sum().backward()
    train(nn.utils.parametrizations.weight_norm(nn.Linear(4, 4)), torch.randn(2, 4))


def transformer() -> None:
    layer = nn.TransformerEncoderLayer(8, 2, 16, batch_first=True)
    tokens = nn.Embedding(10, 8, padding_idx=0)(torch.randint(10, (2, 5)))
    mask = nn.Transformer.generate_square_subsequent_mask(5)
    layer(tokens, src_mask=mask).sum().backward()
    decoder = nn.TransformerDecoderLayer(8, 2, 16, batch_first=True)
    train(decoder, torch.randn(2, 5, 8), torch.randn(2, 4, 8))
    with torch.no_grad():
        layer.eval()(torch.randn(2, 5, 8))
    query = torch.randn(2, 2, 5, 4, requires_grad=True)
    functional.scaled_dot_product_attention(query, query, query, is_causal=True).sum().backward()
    rotary = torch.polar(torch.ones(5, 2), torch.outer(torch.arange(5.0), torch.rand(2)))
    torch.view_as_real(torch.view_as_complex(torch.randn(5, 2, 2)) * rotary)
    torch.einsum("bij,bjk->bik", torch.randn(2, 3, 4), torch.randn(2, 4, 5))
    logits = torch.randn(2, 10)
    kept, where = logits.topk(3)
    torch.multinomial(kept.softmax(-1), 1).gather(1, where.argmax(-1, keepdim=True) * 0)
    torch.sort(logits, descending=True)[0].softmax(-1).cumsum(-1)


def losses() -> None:
    scores = torch.randn(4, 5, requires_grad=True)
    target = torch.randint(5, (4,))
    image = torch.randn(2, 3, 4, 4, requires_grad=True)
    total = functional.cross_entropy(scores, target, label_smoothing=0.1)
    total = total + functional.cross_entropy(image, torch.randint(3, (2, 4, 4)))
    total = total + functional.nll_loss(scores.log_softmax(1), target)
    total = total + functional.kl_div(
        scores.log_softmax(1), torch.rand(4, 5), reduction="batchmean"
    )
    total = total + functional.binary_cross_entropy(scores.sigmoid(), torch.rand(4, 5))
    total = total + functional.binary_cross_entropy_with_logits(scores, torch.rand(4, 5))
    for loss in (
        functional.mse_loss,
        functional.l1_loss,
        functional.smooth_l1_loss,
        functional.huber_loss,
    ):
        total = total + loss(scores, torch.zeros(4, 5))
    total = total + functional.cosine_embedding_loss(scores, scores.flip(0), torch.ones(4))
    total = total + functional.triplet_margin_loss(scores, scores + 1, scores - 1)
    total.backward()


def optimizers() -> None:
    choices: tuple[tuple[Callable[..., torch.optim.Optimizer], dict[str, Any]], ...] = (
        (torch.optim.SGD, {"lr": 0.1, "momentum": 0.9, "nesterov": True, "weight_decay": 0.1}),
        (torch.optim.Adam, {"lr": 0.1, "amsgrad": True, "weight_decay": 0.1}),
        (torch.optim.AdamW, {"lr": 0.1, "amsgrad": True}),
        (torch.optim.RMSprop, {"lr": 0.1, "momentum": 0.9}),
        (torch.optim.Adagrad, {"lr": 0.1}),
    )
    for make, options in choices:
        ways: list[dict[str, bool]] = [{"foreach": True}, {"foreach": False}]
        if make in (torch.optim.SGD, torch.optim.Adam, torch.optim.AdamW):
            ways.append({"fused": True})
        for way in ways:
            model = nn.Linear(4, 4)
            optimizer = make(model.parameters(), **options, **way)
            for _ in range(2):
                optimizer.zero_grad(set_to_none=False)
                model(torch.randn(2, 4)).sum().backward()
                nn.utils.clip_grad_norm_(model.parameters(), 1.0, foreach=way.get("foreach"))
                nn.utils.clip_grad_value_(model.parameters(), 1.0)
                optimizer.step()
    model = nn.Linear(4, 4)
    plain = torch.optim.SGD(model.parameters(), lr=0.1)
    scaler = torch.amp.grad_scaler.GradScaler("cpu")
    with torch.autocast("cpu", dtype=torch.bfloat16):
        loss = model(torch.randn(2, 4)).float().sum()
    scaler.scale(loss).backward()
    scaler.unscale_(plain)
    scaler.step(plain)
    scaler.update()


def random() -> None:
    x = torch.empty(8)
    for fill in (x.uniform_, x.normal_, x.exponential_, x.cauchy_, x.log_normal_, x.random_):
        fill()
    x.geometric_(0.5)
    x.bernoulli_(0.5)
    x.bernoulli_(torch.full((8,), 0.5))
    torch.bernoulli(torch.full((8,), 0.5))
    torch.poisson(torch.ones(8))
    torch.binomial(torch.ones(8), torch.full((8,), 0.5))
    torch.distributions.Gamma(
        torch.ones(2, requires_grad=True), torch.ones(2)
    ).rsample().sum().backward()
    torch.distributions.Dirichlet(torch.ones(3, requires_grad=True)).rsample().sum().backward()
    torch.randperm(8)
    torch.randint(3, (2,))
    for init in (nn.init.xavier_uniform_, nn.init.kaiming_normal_, nn.init.trunc_normal_):
        init(torch.empty(4, 4))


def distributions() -> None:
    two = torch.ones(2, requires_grad=True)
    total = torch.zeros(())
    for distribution in (
        torch.distributions.Gamma(two, two),
        torch.distributions.Beta(two, two),
        torch.distributions.StudentT(two, two, two),
        torch.distributions.Dirichlet(two),
        torch.distributions.VonMises(two, two),
        torch.distributions.LogNormal(two, two),
    ):
        total = total + distribution.log_prob(distribution.sample()).sum()
    total = total + torch.distributions.Poisson(two).log_prob(torch.ones(2)).sum()
    total = total + torch.distributions.Binomial(3, logits=two).log_prob(torch.ones(2)).sum()
    total = total + torch.distributions.Dirichlet(two).entropy().sum()
    normal = torch.distributions.MultivariateNormal(two, torch.eye(2) * two)
    total = total + normal.log_prob(normal.rsample()) + normal.entropy()
    total = (
        total
        + torch.distributions.kl_divergence(
            torch.distributions.Beta(two, two), torch.distributions.Beta(two + 1, two)
        ).sum()
    )
    total.backward()


def linear_algebra() -> None:
    x = torch.randn(2, 3, 3, requires_grad=True)
    positive = x @ x.mT + torch.eye(3)
    total = torch.linalg.cholesky(positive).sum() + torch.linalg.inv(positive).sum()
    total = total + torch.linalg.solve(positive, x).sum() + torch.linalg.slogdet(positive)[1].sum()
    total = total + torch.linalg.det(x).sum() + torch.linalg.eigvalsh(positive).sum()
    total = total + torch.linalg.svdvals(x).sum() + torch.linalg.matrix_exp(x).sum()
    total = total + torch.linalg.pinv(x).sum() + torch.linalg.norm(x, ord=2, dim=(1, 2)).sum()
    total = total + sum(part.sum() for part in torch.linalg.qr(positive))
    total = total + torch.linalg.lstsq(positive, x).solution.sum()
    total = total + torch.cholesky_solve(x, torch.linalg.cholesky(positive)).sum()
    total = total + torch.linalg.cross(x, x.flip(0)).sum()
    total.backward()
    nn.init.orthogonal_(torch.empty(4, 4))
    train(nn.utils.parametrizations.orthogonal(nn.Linear(4, 4)), torch.randn(2, 4))
    train(nn.utils.parametrizations.spectral_norm(nn.Linear(4, 4)), torch.randn(2, 4))


def functions() -> None:
    x = torch.rand(2, 3, requires_grad=True)
    total = torch.atan2(x, x + 1) + torch.hypot(x, x) + torch.logaddexp(x, x) + torch.tan(x)
    for function in (torch.asin, torch.acos, torch.atan, torch.sinh, torch.cosh, torch.asinh):
        total = total + function(x)
    total = total + torch.atanh(x / 2) + torch.acosh(x + 2) + torch.angle(torch.complex(x, x))
    total = total + x.median() + x.median(1).values[:, None] + x.kthvalue(2).values[:, None]
    total.sum().backward()
    activations = nn.Sequential(nn.Mish(), nn.Hardshrink(), nn.Softshrink())
    train(activations, torch.randn(2, 3, requires_grad=True))
    torch.cdist(torch.randn(2, 3, requires_grad=True), torch.randn(4, 3)).sum().backward()
    functional.pdist(torch.randn(4, 3, requires_grad=True)).sum().backward()
    for mode in ("sum", "mean", "max"):
        train(nn.EmbeddingBag(10, 4, mode=mode), torch.randint(10, (2, 3)))


def volumes() -> None:
    model = nn.Sequential(
        nn.Conv3d(2, 4, 3, padding=1),
        nn.BatchNorm3d(4),
        nn.ReLU(),
        nn.MaxPool3d(2),
        nn.AvgPool3d(2),
        nn.AdaptiveAvgPool3d(1),
        nn.Flatten(),
    )
    train(model, torch.randn(2, 2, 8, 8, 8))


def indexing() -> None:
    x = torch.randn(4, 5, requires_grad=True)
    rows = torch.tensor([0, 2, 2])
    (x[rows] + x[:3].index_select(1, torch.arange(5))).sum().backward()
    x.gather(1, rows[:, None]).sum().backward()
    x[x > 0].sum().backward()
    y = torch.zeros(4, 5)
    y[rows] = 1.0
    y[y > 0] = 2.0
    y.scatter_(1, rows[:, None], 1.0).scatter_add_(
        0, torch.zeros(1, 5, dtype=torch.long), y[:1].clone()
    )
    y.index_add_(0, rows, torch.ones(3, 5)).masked_fill_(y > 1, 0.0)
    torch.cat([y, y]).unique(return_inverse=True, return_counts=True)
    torch.bincount(rows)
    torch.nonzero(y)
    torch.where(y > 0, y, -y).clamp(0, 1).triu().tril()
    torch.stack([y, y]).argmax(0)
    y.to(torch.float16).to(torch.int64).to(torch.bool).any().item()
    y.std(0), y.var(), y.amax(1), y.max(1), y.norm(), y.prod(), y.all()
    y.roll(1, 0).flip(1).repeat_interleave(2, 0)


def printing_and_saving() -> None:
    for value in (
        torch.randn(3, 4) * 1e5,
        torch.arange(4),
        torch.tensor([True]),
        torch.tensor([float("nan")]),
    ):
        repr(value)
    file = io.BytesIO()
    torch.save(nn.Linear(2, 2).state_dict(), file)
    file.seek(0)
    nn.Linear(2, 2).load_state_dict(torch.load(file, weights_only=True))
    torch.testing.assert_close(torch.ones(2), torch.ones(2))


class CoreModelsTest(parameterized.TestCase):
    @parameterized.parameters(
        mlp,
        cnn,
        rnn,
        transformer,
        losses,
        optimizers,
        random,
        distributions,
        linear_algebra,
        functions,
        volumes,
        indexing,
        printing_and_saving,
    )
    def test_what_is_called_is_registered(self, program: Callable[[], None]) -> None:
        with Recorder() as recorder:
            program()
        with_kernels = recorder.names & registrations("FULL_REGISTRATIONS")
        self.assertGreater(len(with_kernels), 10)
        self.assertEqual(sorted(with_kernels - registrations("CORE_REGISTRATIONS")), [])


if __name__ == "__main__":
    absltest.main()
