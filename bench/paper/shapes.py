"""Parameters and operations of a model, counted from its shapes: `m` is the "model" section of a full recipe (`dragoman-train recipe`)."""


def attention(m):
    """Number of weights in one attention sublayer: query, key, value and output projections."""
    return 2 * m["d_model"] * m["heads"] * (m["d_k"] + m["d_v"])


def look_back(m):
    """Number of weights in a decoder layer's self-attention, or in the SSRU that replaces it."""
    return 2 * m["d_model"] * m["d_model"] if m["decoder"] == "ssru" else attention(m)


def parameters(m, vocabulary):
    """Number of parameters: one table for both sides and the softmax, gain and bias of each norm, and no other biases than those of
    the feed-forward networks and SSRUs."""
    d, a = m["d_model"], attention(m)
    back = look_back(m) + (2 * d if m["decoder"] == "ssru" else 0)
    last = 4 * d if m["pre_norm"] else 0
    ffn = 2 * d * m["d_ff"] + m["d_ff"] + d
    learned = 2 * m["max_positions"] * d if m["positions"] == "learned" else 0
    return vocabulary * d + m["encoder_layers"] * (a + ffn + 4 * d) + m["decoder_layers"] * (back + a + ffn + 6 * d) + learned + last


def training_flops(m, vocabulary, tokens, length):
    """FLOPs of one update with `tokens` source and as many target tokens in sentences of `length`: a multiplication and its addition count
    as two, and backward costs twice as much as forward."""
    d, a, ffn = m["d_model"], attention(m), 2 * m["d_model"] * m["d_ff"]
    looks = length * m["heads"] * (m["d_k"] + m["d_v"])  # scores and weighted sum over the whole sentence
    source = m["encoder_layers"] * (a + ffn + looks) + m["decoder_layers"] * a // 2  # with the cross-attention's keys and values
    own = looks // 2 if m["decoder"] == "attention" else 0  # causal self-attention sees half of the sentence
    target = m["decoder_layers"] * (look_back(m) + a // 2 + ffn + looks + own) + vocabulary * d
    return 6 * tokens * (source + target)
