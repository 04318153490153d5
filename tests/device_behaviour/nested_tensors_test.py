"""Nested tensors, which torch.nn.TransformerEncoder makes of batches with a padding mask."""

from __future__ import annotations

import torch
from absl.testing import absltest


class NestedTensorsTest(absltest.TestCase):
    def setUp(self) -> None:
        super().setUp()
        torch.manual_seed(41)

    def test_an_encoder_skips_padding_as_on_the_cpu(self) -> None:
        layer = torch.nn.TransformerEncoderLayer(32, 4, 64, batch_first=True)
        encoder = torch.nn.TransformerEncoder(layer, 2).eval()
        batch = torch.randn(3, 7, 32)
        padding = torch.zeros(3, 7, dtype=torch.bool)
        padding[0, 5:] = padding[1, 6:] = True
        with torch.no_grad():
            right = encoder(batch, src_key_padding_mask=padding)
            result = encoder.cuda()(batch.cuda(), src_key_padding_mask=padding.cuda())
        torch.testing.assert_close(result.cpu(), right, rtol=1e-4, atol=1e-5)

    def test_parts_of_several_lengths_are_padded_and_come_back(self) -> None:
        parts = [torch.randn(2, 3), torch.randn(5, 3)]
        nested = torch.nested.nested_tensor([part.cuda() for part in parts])
        padded = torch.nested.to_padded_tensor(nested, -1.0).cpu()
        right = torch.nn.utils.rnn.pad_sequence(parts, batch_first=True, padding_value=-1.0)
        torch.testing.assert_close(padded, right)
        for part, back in zip(parts, nested.unbind(), strict=True):
            torch.testing.assert_close(back.cpu(), part)

    def test_gradients_reach_the_parts(self) -> None:
        parts = [torch.randn(rows, 3, device="cuda", requires_grad=True) for rows in (2, 4)]
        nested = torch.nested.as_nested_tensor(parts)
        torch.nested.to_padded_tensor(torch.nn.functional.relu(nested) * 2, 0.0).sum().backward()
        for part in parts:
            torch.testing.assert_close(part.grad, 2.0 * (part > 0))

    def test_a_product_that_is_not_in_the_profile_says_so(self) -> None:
        parts = [torch.randn(2, 3), torch.randn(4, 3)]
        nested = torch.nested.nested_tensor(parts, device="cuda")
        try:
            product = torch.matmul(nested, nested.transpose(1, 2))
        except NotImplementedError as error:
            self.assertIn("aten::bmm", str(error))
            return
        for part, square in zip(parts, product.unbind(), strict=True):
            torch.testing.assert_close(square.cpu(), part @ part.t())


if __name__ == "__main__":
    absltest.main()
