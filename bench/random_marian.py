"""Random models as Marian writes them: options of the architecture that all of them have, and weights in the scale of trained ones."""
import numpy as np

OPTIONS = {
    "type": "transformer", "transformer-ffn-activation": "relu", "transformer-preprocess": '""', "transformer-postprocess": "dan",
    "transformer-postprocess-emb": "d", "transformer-postprocess-top": '""', "transformer-ffn-depth": 2, "transformer-decoder-ffn-depth": 0,
    "transformer-decoder-dim-ffn": 0, "transformer-train-position-embeddings": "false", "transformer-no-projection": "false",
    "transformer-rnn-projection": "false", "transformer-tied-layers": "[]", "transformer-guided-alignment-layer": "last",
    "transformer-aan-depth": 2, "transformer-aan-activation": "swish", "transformer-aan-nogate": "false", "tied-embeddings-all": "true",
    "tied-embeddings": "false", "tied-embeddings-src": "false", "layer-normalization": "false", "skip": "false", "input-types": "[]",
    "lemma-dim-emb": 0, "ulr": "false"}


def yaml(options):
    return "".join(f"{k}: {v}\n" for k, v in options.items()).encode() + b"\0"


class Writer:
    def __init__(self, rng):
        self.rng, self.arrays = rng, {}

    def normal(self, name, shape, std, mean=0.0):
        self.arrays[name] = (mean + std * self.rng.standard_normal(shape)).astype(np.float32)

    def linear(self, weight, bias, n_in, n_out):
        """Marian stores matrices as [in, out]. bias: None for a product without one."""
        self.normal(weight, (n_in, n_out), (2.0 / (n_in + n_out)) ** 0.5)
        if bias:
            self.normal(bias, (1, n_out), 0.02)

    def norm(self, name, d, gain=1.0):
        self.normal(f"{name}_ln_scale", (1, d), 0.1 * gain, gain)
        self.normal(f"{name}_ln_bias", (1, d), 0.05)

    def attention(self, name, d):
        for x in "qkvo":
            self.linear(f"{name}_W{x}", f"{name}_b{x}", d, d)
        self.norm(f"{name}_Wo", d)

    def ffn(self, name, d, f, gain=1.0):
        self.linear(f"{name}_W1", f"{name}_b1", d, f)
        self.linear(f"{name}_W2", f"{name}_b2", f, d)
        self.norm(f"{name}_ffn", d, gain)
