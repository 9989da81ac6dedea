"""Parameters and multiplications of a model, counted from its shapes: `m` is the "model" section of a whole recipe (`dragoman-train recipe`)."""


def attention(m):
    """Weights of one attention sublayer: queries, keys, values and what follows them."""
    return 2 * m["d_model"] * m["heads"] * (m["d_k"] + m["d_v"])


def parameters(m, vocabulary):
    """One table for both sides and the softmax; no biases but the feed-forward network's, gain and bias of each norm."""
    d, a = m["d_model"], attention(m)
    ffn = 2 * d * m["d_ff"] + m["d_ff"] + d
    learned = 2 * m["max_positions"] * d if m["positions"] == "learned" else 0
    return vocabulary * d + m["encoder_layers"] * (a + ffn + 4 * d) + m["decoder_layers"] * (2 * a + ffn + 6 * d) + learned


def training_flops(m, vocabulary, tokens, length):
    """Of one update with so many source and as many target tokens in sentences of `length`: every multiplication with its addition is two,
    and backward is twice forward."""
    d, a, ffn = m["d_model"], attention(m), 2 * m["d_model"] * m["d_ff"]
    looks = length * m["heads"] * (m["d_k"] + m["d_v"])  # scores and weighted sum over the whole sentence
    source = m["encoder_layers"] * (a + ffn + looks) + m["decoder_layers"] * a // 2  # the memory's keys and values
    target = m["decoder_layers"] * (a + a // 2 + ffn + looks + looks // 2) + vocabulary * d  # the masked half of its own pieces
    return 6 * tokens * (source + target)
