#!/usr/bin/env python3
"""Makes the Marian models in this folder (NAME.npz with NAME.source.yml and NAME.target.yml) and NAME.json, CTranslate2's
answers with them in float32. The weights are trained briefly with transformers' MarianMTModel, which computes the same;
a greedy answer is kept only if that model gives it too, with the two best pieces of each step at least 1e-3 apart. Needs PyPI
ctranslate2, torch, transformers, numpy, pyyaml (made with 4.8.5, 2.15.0, 5.23.0, 2.4.6 and 6.0.3). Run in this folder.

  apart    two vocabularies, nothing tied, one and two layers, swish, sinusoids as CTranslate2 has them ("halves")
  all      one table for all, two layers and one, relu, sinusoids of Marian's own code ("marian"; CTranslate2 is given
           them as a stored table)
  trained  two vocabularies, the softmax tied to the target's table, trained positions"""
import json
import os
import sys
import tempfile
import warnings

import ctranslate2
import numpy as np
import torch
import yaml
from ctranslate2.converters import MarianConverter
from transformers import MarianConfig, MarianMTModel

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "huggingface"))
HERE = os.path.dirname(os.path.abspath(__file__))
os.chdir(os.path.join(HERE, "..", "huggingface"))
from make import LIMIT, greedy, train  # noqa: E402

warnings.filterwarnings("ignore")
OPTIONS = {
    "type": "transformer", "transformer-ffn-depth": 2, "transformer-decoder-ffn-depth": 0,
    "transformer-decoder-dim-ffn": 0, "transformer-decoder-autoreg": "self-attention", "transformer-preprocess": "",
    "transformer-postprocess": "dan", "transformer-postprocess-emb": "d", "transformer-postprocess-top": "",
    "transformer-no-projection": False, "transformer-tied-layers": [], "transformer-guided-alignment-layer": "last",
    "transformer-train-position-embeddings": False, "tied-embeddings": False, "tied-embeddings-src": False,
    "tied-embeddings-all": False, "right-left": False, "input-types": [], "version": "v1.12.0 test",
}


def marian_sinusoids(n, d):
    """Sinusoids as in Marian's code: exponents i / (d/2 - 1)."""
    angles = np.arange(n)[:, None] * np.power(10000.0, -np.arange(d // 2) / (d // 2 - 1))
    return np.concatenate([np.sin(angles), np.cos(angles)], 1).astype(np.float32)


def pieces(n, first):
    """</s>, <unk>, then names of letters and digits: YAML gives some bare words another meaning."""
    return ["</s>", "<unk>"] + ["\u2581" * (i % 3 == 0) + chr(97 + i % 26) + first + str(i) for i in range(2, n)]


class Arrays(dict):
    def __init__(self, model):
        super().__init__()
        self.state = {k: v.detach().numpy() for k, v in model.state_dict().items()}

    def linear(self, name, suffix, source):
        self[f"{name}_W{suffix}"] = self.state[source + ".weight"].T.copy()
        self[f"{name}_b{suffix}"] = self.state[source + ".bias"][None].copy()

    def norm(self, name, source):
        self[name + "_ln_scale"] = self.state[source + ".weight"][None].copy()
        self[name + "_ln_bias"] = self.state[source + ".bias"][None].copy()

    def attention(self, name, source, norm):
        for letter, word in zip("qkvo", ("q_proj", "k_proj", "v_proj", "out_proj")):
            self.linear(name, letter, f"{source}.{word}")
        self.norm(name + "_Wo", norm)

    def layers(self, side, n):
        for i in range(n):
            ours, theirs = f"{side}_l{i + 1}", f"model.{side}.layers.{i}"
            self.attention(ours + "_self", theirs + ".self_attn", theirs + ".self_attn_layer_norm")
            if side == "decoder":
                self.attention(ours + "_context", theirs + ".encoder_attn", theirs + ".encoder_attn_layer_norm")
            self.linear(ours + "_ffn", "1", theirs + ".fc1")
            self.linear(ours + "_ffn", "2", theirs + ".fc2")
            self.norm(ours + "_ffn_ffn", theirs + ".final_layer_norm")


def arrays_of(model, options, tables):
    """Marian's arrays, without the padding piece that transformers adds at the end."""
    a = Arrays(model)
    a.layers("encoder", model.config.encoder_layers)
    a.layers("decoder", model.config.decoder_layers)
    if options.get("tied-embeddings-all"):
        a["Wemb"] = a.state["model.shared.weight"][:-1]
    else:
        a["encoder_Wemb"] = a.state["model.encoder.embed_tokens.weight"][:-1]
        a["decoder_Wemb"] = np.delete(a.state["model.decoder.embed_tokens.weight"], model.config.pad_token_id, 0)
    if not options.get("tied-embeddings-all") and not options.get("tied-embeddings"):
        a["decoder_ff_logit_out_W"] = np.delete(a.state["lm_head.weight"], model.config.pad_token_id, 0).T.copy()
    a["decoder_ff_logit_out_b"] = np.delete(a.state["final_logits_bias"], model.config.pad_token_id, 1)
    if tables == "trained":
        a["Wpos"] = a.state["model.encoder.embed_positions.weight"]
    return dict(a)


def save(path, arrays, options):
    text = yaml.safe_dump(options, sort_keys=False).encode() + b"\0"
    np.savez_compressed(path, **arrays, **{"special:model.yml": np.frombuffer(text, np.int8)})


def write_yaml(path, names):
    with open(path, "w", encoding="utf-8") as f:
        f.write("".join('"%s": %d\n' % (p, i) for i, p in enumerate(names)))


def make(name, sizes, vocabs, tables, seed, steps, act, **ties):
    D, F, H, enc, dec = sizes
    source, target = pieces(vocabs[0], "s"), pieces(vocabs[1], "t" if vocabs[0] != vocabs[1] else "s")
    shared = bool(ties.get("tied-embeddings-all"))
    # The padding id follows the last id of the larger vocabulary; the target's own table has it at the same place.
    pad = len(source)
    config = MarianConfig(
        vocab_size=pad + 1, decoder_vocab_size=pad + 1 if shared else len(target) + 1, max_position_embeddings=160,
        encoder_layers=enc, decoder_layers=dec, encoder_ffn_dim=F, decoder_ffn_dim=F, encoder_attention_heads=H,
        decoder_attention_heads=H, d_model=D, activation_function=act, scale_embedding=True,
        pad_token_id=min(pad, len(target)), decoder_start_token_id=min(pad, len(target)), eos_token_id=0,
        forced_eos_token_id=0, init_std=0.1, share_encoder_decoder_embeddings=shared,
        tie_word_embeddings=bool(shared or ties.get("tied-embeddings")))
    model = MarianMTModel(config)
    if tables != "halves":
        table = marian_sinusoids(160, D)
        if tables == "trained":
            table = np.round(512 * (0.8 * table + 0.2 * np.roll(table, 1, 1))) / 512
        for side in (model.model.encoder, model.model.decoder):
            side.embed_positions.weight.data.copy_(torch.tensor(table))
    print(name, "loss", train(model, seed, steps))
    model.model.decoder.embed_tokens.weight.data[config.pad_token_id] = 0  # Marian starts from the zero vector
    model.generation_config.bad_words_ids = [[config.pad_token_id]]
    model.generation_config.renormalize_logits = True
    options = dict(OPTIONS, **ties, **{
        "dim-emb": D, "dim-vocabs": [len(source), len(target)], "enc-depth": enc, "dec-depth": dec,
        "transformer-heads": H, "transformer-dim-ffn": F, "transformer-ffn-activation": act,
        "transformer-train-position-embeddings": tables == "trained"})
    arrays = arrays_of(model, options, tables)
    save(f"{HERE}/{name}.npz", arrays, options)
    write_yaml(f"{HERE}/{name}.source.yml", source)
    write_yaml(f"{HERE}/{name}.target.yml", target)
    with tempfile.TemporaryDirectory() as tmp:
        if tables == "marian":
            arrays = dict(arrays, Wpos=marian_sinusoids(160, D))
        save(tmp + "/model.npz", arrays, options)
        vocabularies = [f"{HERE}/{name}.{side}.yml" for side in ("source", "target")]
        MarianConverter(tmp + "/model.npz", vocabularies).convert(tmp + "/ct2")
        peer = ctranslate2.Translator(tmp + "/ct2", compute_type="float32", intra_threads=1)
        write_answers(name, peer, model, source, target)


@torch.no_grad()
def write_answers(name, peer, model, source, target):
    rng = np.random.default_rng(1)
    value = {"forced": [], "greedy": []}
    for n, m in [(1, 1), (3, 5), (7, 4), (12, 15), (25, 20), (118, 105), (60, 128), (130, 30)]:
        s, t = rng.choice(source[2:], n).tolist(), rng.choice(target[2:], m).tolist()
        logprobs = peer.score_batch([s], [t])[0].log_probs
        assert len(logprobs) == m + 1
        value["forced"].append({"source": s, "target": t, "logprobs": [round(float(x), 7) for x in logprobs]})
    skipped = 0
    for n in [1, 2, 3, 4, 5, 6, 8, 10, 13, 17, 22, 28, 35, 50, 80, 110, 125, 140]:
        s = rng.choice(source[2:], n).tolist()
        got = peer.translate_batch([s], beam_size=1, max_decoding_length=LIMIT, min_decoding_length=0)[0].hypotheses[0]
        ids, limited, gap = greedy(model, [source.index(p) for p in s] + [0])
        if gap < 1e-3:
            skipped += 1
            continue
        assert got[:LIMIT - 1] == [target[i] for i in ids], (name, n)
        value["greedy"].append({"source": s, "target": got})
    print(name, "skipped", skipped, "lengths", [len(g["target"]) for g in value["greedy"]])
    with open(f"{HERE}/{name}.json", "w", encoding="utf-8") as f:
        f.write("{" + ",\n".join('"%s": [\n%s\n]' % (k, ",\n".join(json.dumps(x, ensure_ascii=False) for x in v))
                                 for k, v in value.items()) + "}\n")


if __name__ == "__main__":
    make("apart", (32, 48, 2, 1, 2), (90, 70), "halves", 1, 1500, "swish")
    make("all", (32, 64, 4, 2, 1), (90, 90), "marian", 5, 3000, "relu", **{"tied-embeddings-all": True})
    make("trained", (32, 40, 2, 1, 1), (80, 60), "trained", 3, 2000, "swish", **{"tied-embeddings": True})
