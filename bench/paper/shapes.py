"""Parameters and multiplications of a model, counted from its shapes: `m` is the "model" section of a whole recipe (`dragoman-train recipe`)."""


def attention(m):
    """Weights of one attention sublayer: queries, keys, values and what follows them."""
    return 2 * m["d_model"] * m["heads"] * (m["d_k"] + m["d_v"])


def look_back(m):
    """Weights of what a decoder layer looks back at its own pieces with."""
    return 2 * m["d_model"] * m["d_model"] if m["decoder"] == "ssru" else attention(m)


def parameters(m, vocabulary):
    """One table for both sides and the softmax; no biases but the feed-forward network's and an SSRU's, gain and bias of each norm."""
    d, a = m["d_model"], attention(m)
    back = look_back(m) + (2 * d if m["decoder"] == "ssru" else 0)
    last = 4 * d if m["pre_norm"] else 0
    ffn = 2 * d * m["d_ff"] + m["d_ff"] + d
    learned = 2 * m["max_positions"] * d if m["positions"] == "learned" else 0
    return vocabulary * d + m["encoder_layers"] * (a + ffn + 4 * d) + m["decoder_layers"] * (back + a + ffn + 6 * d) + learned + last


def training_flops(m, vocabulary, tokens, length):
    """Of one update with so many source and as many target tokens in sentences of `length`: every multiplication with its addition is two,
    and backward is twice forward."""
    d, a, ffn = m["d_model"], attention(m), 2 * m["d_model"] * m["d_ff"]
    looks = length * m["heads"] * (m["d_k"] + m["d_v"])  # scores and weighted sum over the whole sentence
    source = m["encoder_layers"] * (a + ffn + looks) + m["decoder_layers"] * a // 2  # the memory's keys and values
    own = looks // 2 if m["decoder"] == "attention" else 0  # the masked half of its own pieces
    target = m["decoder_layers"] * (look_back(m) + a // 2 + ffn + looks + own) + vocabulary * d
    return 6 * tokens * (source + target)
