"""The small models of the golden tests: each shows some of the conventions a bundle can have.

Random weights repeat one piece for ever, so each model is trained for a few hundred steps on an invented language
(gradients.py does it; nothing of the product is involved): outputs are then peaked, depend on the source and end.
All random numbers come from PCG64's raw stream, which numpy promises never to change.
"""
import numpy as np

from gradients import Adam, gradients, learning_rate
from transformer import Config, parameter_shapes

PAPER = dict(positions="paper", attention_bias=False, output_bias=False, act="relu", tied_embeddings=True,
             tied_output=True)
MARIAN = dict(positions="marian", attention_bias=True, output_bias=True, act="relu", tied_embeddings=True,
              tied_output=True)

MODELS = {
    # The paper's conventions.
    "paper": Config(60, 60, 32, 64, 4, 8, 8, 2, 2, **PAPER),
    # Marian's conventions: sine and cosine halves with its own exponent; biases; swish; a deep encoder, a shallow decoder.
    "marian": Config(57, 57, 32, 48, 4, 8, 8, 3, 1, **{**MARIAN, "act": "swish"}),
    # Marian models as CTranslate2 and Hugging Face compute them; a shallow encoder, a deeper decoder.
    "halves": Config(64, 64, 24, 48, 3, 8, 8, 1, 3, norm_eps=1e-5, **{**MARIAN, "positions": "halves"}),
    # Hugging Face MarianMT: the decoder starts from the embedding of the pad piece.
    "start-piece": Config(50, 50, 32, 64, 2, 16, 16, 2, 2, start=49, norm_eps=1e-5,
                          **{**MARIAN, "positions": "halves", "act": "swish"}),
    # Table 3, row A with one head: H*Dk is not D.
    "one-head": Config(48, 48, 24, 40, 1, 48, 48, 1, 2, **PAPER),
    # Table 3, row B: keys narrower than values.
    "narrow-keys": Config(72, 72, 32, 64, 4, 4, 16, 2, 1, **{**PAPER, "act": "gelu", "attention_bias": True}),
    # Table 3, row E: learned positions; two vocabularies, nothing tied.
    "learned": Config(61, 45, 24, 48, 4, 6, 6, 2, 2, max_positions=192,
                      **{**MARIAN, "positions": "learned", "act": "gelu", "tied_embeddings": False,
                         "tied_output": False}),
    # Sizes that are not multiples of a vector width; positions count from 1; no </s> after the source; embeddings unscaled.
    "odd-sizes": Config(41, 41, 22, 37, 2, 11, 7, 2, 2, first_position=1, source_eos=False, embed_scale=1.0,
                        norm_eps=1e-3, **PAPER),
    # Two vocabularies, the target's table tied to the softmax.
    "two-vocabularies": Config(83, 53, 32, 56, 8, 4, 4, 1, 2, **{**MARIAN, "tied_embeddings": False}),
    # Shared embeddings, a softmax of its own; </s> and <unk> are not 0 and 1; the decoder starts from </s>.
    "own-softmax": Config(120, 120, 40, 64, 10, 4, 4, 1, 1, eos=2, unk=3, start=2,
                          **{**PAPER, "tied_output": False, "act": "swish", "output_bias": True}),
    # Outputs that never end on their own: searches run to their limit, beyond position 100.
    "endless": Config(44, 44, 24, 40, 3, 8, 8, 1, 2, norm_eps=1e-5, **{**MARIAN, "positions": "halves"}),
}


class Stream:
    """A stream of random numbers: uniform reals of mean 0 and a given standard deviation, and integers."""

    def __init__(self, seed):
        self.bits = np.random.PCG64(seed)

    def uniform(self, shape, std):
        raw = self.bits.random_raw(int(np.prod(shape)))
        u = (raw >> np.uint64(11)).astype(np.float64) * 2.0 ** -53
        return ((u - 0.5) * np.sqrt(12.0) * std).astype(np.float32).reshape(shape)

    def integers(self, low, high, n):
        return (low + self.bits.random_raw(n) % np.uint64(high - low)).astype(int).tolist()


def initial_parameters(c, stream):
    """Glorot-uniform matrices, embeddings of standard deviation D^-0.5, small biases: float32 values."""
    params = {}
    for name, shape in parameter_shapes(c).items():
        if name.endswith("norm.gain"):
            params[name] = 1 + stream.uniform(shape, 0.1)
        elif name in ("src.embed", "tgt.embed", "out.w"):
            params[name] = stream.uniform(shape, c.D ** -0.5)
        elif name.endswith(".pos"):
            params[name] = stream.uniform(shape, 0.5)
        elif shape[0] == 1:
            params[name] = stream.uniform(shape, 0.05)
        else:
            params[name] = stream.uniform(shape, np.sqrt(2.0 / (shape[0] + shape[1])))
        params[name] = params[name].astype(np.float32)
    return params


def ordinary_pieces(c, vocab):
    """Ids that a sentence may contain: not </s>, <unk> or the decoder's start."""
    return [i for i in range(vocab) if i not in (c.eos, c.unk, c.start)]


class Language:
    """An invented pair of languages: each source piece has a usual and a rarer translation of 0 to 2 pieces."""

    def __init__(self, c, stream):
        self.words = ordinary_pieces(c, c.source_vocab)
        self.stream = stream
        target = ordinary_pieces(c, c.target_vocab)
        self.usual, self.rare = {}, {}
        for w in self.words:
            kind, a, b, other = stream.integers(0, 2 ** 20, 4)
            first = target[a % len(target)]
            self.usual[w] = [[], [first], [first, target[b % len(target)]]][(0, 1, 1, 1, 1, 1, 1, 2)[kind % 8]]
            self.rare[w] = [target[other % len(target)]]

    def source(self, n):
        return [self.words[i] for i in self.stream.integers(0, len(self.words), n)]

    def translate(self, source):
        coins = self.stream.integers(0, 100, len(source))
        return [p for w, coin in zip(source, coins) for p in (self.rare if coin < 20 else self.usual)[w]]

    def pair(self, shortest, longest):
        source = self.source(self.stream.integers(shortest, longest + 1, 1)[0])
        return source, self.translate(source)


def seed_of(name):
    return 100 + list(MODELS).index(name)


class Walk(Language):
    """Translations are random walks of 10 to 20 pieces in which each piece has three successors."""

    def __init__(self, c, stream):
        super().__init__(c, stream)
        successors = stream.integers(0, len(self.words), 3 * c.target_vocab)
        self.successors = [[self.words[j] for j in successors[3 * i:3 * i + 3]] for i in range(c.target_vocab)]

    def translate(self, source):
        length, *coins = self.stream.integers(0, 2 ** 20, 21)
        walk = [source[0]]
        for coin in coins[:9 + length % 11]:
            walk.append(self.successors[walk[-1]][(0, 0, 0, 0, 1, 1, 2)[coin % 7]])
        return walk


def language_of(name):
    """The model's language, with its stream at the position where training begins."""
    return (Walk if name == "endless" else Language)(MODELS[name], Stream(seed_of(name)))


def train_model(name, steps=700, sentences=16, report=None):
    """Parameters as float32 after a short training on the model's own language."""
    c = MODELS[name]
    language = language_of(name)
    params = {n: v.astype(np.float64) for n, v in initial_parameters(c, language.stream).items()}
    adam = Adam(params)
    for step in range(1, steps + 1):
        batch = [language.pair(2, 12) for _ in range(sentences)]
        loss, nll, grads = gradients(c, params, batch, 0.1)
        params = adam.step(params, grads, learning_rate(c, step, warmup=steps // 4, scale=0.6))
        if report and step % 50 == 0:
            report(f"{name}: step {step} loss {loss:.3f} nll {nll:.3f}")
    if name == "endless":
        params["out.b"][0, c.eos] -= 8.0
    return {n: v.astype(np.float32) for n, v in params.items()}


def double(params):
    return {name: value.astype(np.float64) for name, value in params.items()}
