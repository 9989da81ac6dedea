#!/usr/bin/env python3
"""Makes the MarianMT directories in this folder, and NAME.json, transformers' answers with them. The random weights are trained
briefly and saved by transformers itself. `make.py --answers` keeps the directories and makes only the expected values.
Needs PyPI torch, transformers, safetensors, sentencepiece and numpy (made with 2.15.0, 5.23.0, 0.8.0, 0.2.3 and 2.4.6).

  swish      F32, d 64, two encoder layers and one decoder layer, all tables shared, one vocabulary for both sides
  separate   F16, one and two layers, gelu, two vocabularies, nothing tied, the softmax without padding
  multi      BF16, relu, embeddings not scaled, >>xxx<< tags, position tables stored in the file
  learned    F32, position tables stored in the file that are not sinusoids

A search is kept only if the two best pieces of each step are at least 1e-3 apart."""
import io
import json
import os
import re
import shutil
import sys
import warnings

import numpy as np
import sentencepiece
import torch
from safetensors.torch import load_file, save_file
from transformers import MarianConfig, MarianMTModel, MarianTokenizer

warnings.filterwarnings("ignore")
torch.set_num_threads(1)
CORPUS = open("../../tokenizer/corpus.txt", encoding="utf-8").read().splitlines()
ENGLISH, GERMAN = CORPUS[:20], CORPUS[20:40]
LIMIT = 130  # most pieces of an answer
PAD = -1     # replaced by the padding piece's id


def train_spm(path, lines, size):
    model = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(lines), model_writer=model, vocab_size=size, model_type="unigram", eos_id=0, unk_id=1,
        bos_id=-1, pad_id=-1, num_threads=1, minloglevel=2, normalization_rule_name="identity")
    with open(path, "wb") as f:
        f.write(model.getvalue())
    spm = sentencepiece.SentencePieceProcessor(model_file=path)
    return [spm.id_to_piece(i) for i in range(spm.get_piece_size())]


def write_vocab(path, pieces):
    with open(path, "w", encoding="utf-8") as f:
        json.dump({p: i for i, p in enumerate(pieces)}, f, ensure_ascii=False, indent=0)


def tokenizer_files(folder, tags=(), separate=False):
    source = train_spm(folder + "/source.spm", ENGLISH, 90)
    target = train_spm(folder + "/target.spm", GERMAN, 80)
    special = {"source_lang": "eng", "target_lang": "deu", "separate_vocabs": separate, "eos_token": "</s>",
               "unk_token": "<unk>", "pad_token": "<pad>", "tokenizer_class": "MarianTokenizer"}
    with open(folder + "/tokenizer_config.json", "w") as f:
        json.dump(special, f, indent=2)
    if separate:
        # The shared ids come first, padding follows them, so that both vocabularies give it the same id.
        n = min(len(source), len(target))
        source, target = source[:n] + ["<pad>"] + source[n:], target[:n] + ["<pad>"] + target[n:]
        write_vocab(folder + "/vocab.json", source)
        write_vocab(folder + "/target_vocab.json", target)
        return source, target
    joint = source + [p for p in target if p not in source] + list(tags) + ["<pad>"]
    write_vocab(folder + "/vocab.json", joint)
    return joint, joint


def train(model, seed, steps):
    """Train for a few hundred steps on an invented language (each piece has its own translation), so that outputs vary and
    end; then round to multiples of 1/512, which compress well."""
    torch.manual_seed(seed)
    rng = np.random.default_rng(seed)
    c = model.config
    source, target = words(c.vocab_size, c.pad_token_id), words(c.decoder_vocab_size, c.pad_token_id)
    optimizer = torch.optim.Adam(model.parameters(), lr=1, betas=(0.9, 0.98))
    rate = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda t: 0.004 * min((t + 1) / 100, (100 / (t + 1)) ** 0.5))
    model.train()
    for step in range(steps):
        n, rows = (int(rng.integers(1, 130)), 6) if step % 5 == 0 else (int(rng.integers(1, 16)), 24)
        picked = rng.integers(0, len(source), (rows, n))
        ids = torch.tensor(np.array(source)[picked])
        labels = torch.tensor(np.array(target)[(picked * 7 + 3) % len(target)])
        end = torch.zeros((rows, 1), dtype=torch.long)
        loss = model(torch.cat([ids, end], 1), labels=torch.cat([labels, end], 1)).loss
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        rate.step()
    model.eval()
    g = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for p in model.parameters():
            if p.requires_grad:
                p.copy_(torch.round(p * 512) / 512)
        model.final_logits_bias.copy_(torch.round(torch.randn(model.final_logits_bias.shape, generator=g) * 64) / 512)
    return float(loss)


def words(n, pad):
    return [i for i in range(2, n) if i != pad]


def make(folder, sizes, dtype, seed, steps, tags=(), separate=False, generation=None, positions=None, **conventions):
    shutil.rmtree(folder, ignore_errors=True)
    os.makedirs(folder)
    source, target = tokenizer_files(folder, tags, separate)
    D, F, H, enc, dec = sizes
    pad = source.index("<pad>")
    config = MarianConfig(
        vocab_size=len(source), decoder_vocab_size=len(target), max_position_embeddings=160, encoder_layers=enc,
        decoder_layers=dec, encoder_ffn_dim=F, decoder_ffn_dim=F, encoder_attention_heads=H,
        decoder_attention_heads=H, d_model=D, pad_token_id=pad, decoder_start_token_id=pad, eos_token_id=0,
        forced_eos_token_id=0, init_std=0.1, share_encoder_decoder_embeddings=not separate,
        tie_word_embeddings=not separate, **conventions)
    model = MarianMTModel(config).eval()
    print(folder, "loss", train(model, seed, steps))
    for key, value in (generation or {}).items():
        setattr(model.generation_config, key, [[pad]] if value == [[PAD]] else value)
    model = model.to(dtype)
    model.save_pretrained(folder)
    if positions is not None:
        weights = load_file(folder + "/model.safetensors")
        for side in ("encoder", "decoder"):
            name = f"model.{side}.embed_positions.weight"
            weights[name] = positions(side, getattr(model.model, side).embed_positions.weight.float()).to(dtype).clone()
        save_file(weights, folder + "/model.safetensors", {"format": "pt"})
        loaded = MarianMTModel.from_pretrained(folder, dtype=torch.float32)
        assert torch.equal(loaded.model.encoder.embed_positions.weight,
                           weights["model.encoder.embed_positions.weight"].float())


@torch.no_grad()
def answers(folder):
    """Write the expected values: the model as read from the directory, in float32."""
    source, target = (list(json.load(open(f"{folder}/{name}", encoding="utf-8"))) for name in vocabularies(folder))
    tags = [p for p in source if p.startswith(">>")]
    model = MarianMTModel.from_pretrained(folder, dtype=torch.float32, attn_implementation="eager").eval()
    if folder == "multi":  # replace the stored sinusoids, which bf16 rounded, with exact ones
        for side in (model.model.encoder, model.model.decoder):
            exact = side.embed_positions.create_weight()
            assert (side.embed_positions.weight - exact).abs().max() < 5e-3
            side.embed_positions.weight.copy_(exact)
    write_answers(folder, model, source, target, tags)


def vocabularies(folder):
    separate = os.path.exists(folder + "/target_vocab.json")
    return "vocab.json", "target_vocab.json" if separate else "vocab.json"


def greedy(model, ids):
    """(answer of transformers' generate(), whether it met the limit, smallest gap between the two best pieces of a step)"""
    out = model.generate(torch.tensor([ids]), num_beams=1, do_sample=False, max_new_tokens=LIMIT,
                         return_dict_in_generate=True, output_scores=True)
    gaps = []
    for s in out.scores[:-1] if len(out.scores) == LIMIT else out.scores:  # at the limit </s> is forced
        best = torch.topk(s[0].double(), 2).values
        gaps.append(float(best[0] - best[1]))
    got = out.sequences[0, 1:].tolist()
    return got[:-1], len(got) == LIMIT, min(gaps)


def forced(model, ids, target):
    start = model.config.decoder_start_token_id
    with torch.no_grad():
        logits = model(torch.tensor([ids]), decoder_input_ids=torch.tensor([[start] + target])).logits[0].float()
    if model.generation_config.renormalize_logits:
        logits[:, model.config.pad_token_id] = -torch.inf
    logprob = torch.log_softmax(logits.double(), -1)
    return [round(float(logprob[i, t]), 7) for i, t in enumerate(target + [0])]


def write_answers(folder, model, source, target, tags):
    rng = np.random.default_rng(1)
    tokenizer = MarianTokenizer.from_pretrained(folder)
    banned = {0, 1, model.config.pad_token_id}
    src, tgt = ([i for i, p in enumerate(side) if i not in banned and not p.startswith(">>")]
                for side in (source, target))
    value = {"forced": [], "greedy": [], "texts": []}
    for n, m in [(1, 1), (3, 5), (7, 4), (12, 15), (25, 20), (118, 105), (60, 128), (130, 30)]:
        s, t = rng.choice(src, n).tolist(), rng.choice(tgt, m).tolist()
        value["forced"].append({"source": s, "target": t, "logprobs": forced(model, s + [0], t)})
    skipped = 0
    for n in [1, 2, 3, 4, 5, 6, 8, 10, 13, 17, 22, 28, 35, 50, 80, 110, 125, 140]:
        s = rng.choice(src, n).tolist()
        got, limited, gap = greedy(model, s + [0])
        skipped += gap < 1e-3
        if gap >= 1e-3:
            value["greedy"].append({"source": s, "target": got, "length_limited": limited})
    for i, text in enumerate(x for x in ENGLISH if not re.search("[.?!] ", x)):  # texts of one sentence
        tag = tags[i % len(tags)] if tags else ""
        ids = tokenizer(tag + text).input_ids
        got, limited, gap = greedy(model, ids)
        skipped += gap < 1e-3
        if gap >= 1e-3:
            pieces = [target[j] for j in got]
            value["texts"].append({"text": text, "tag": tag, "source": [source[j] for j in ids], "pieces": pieces,
                                   "answer": tokenizer.convert_tokens_to_string(pieces), "length_limited": limited})
    lengths = [len(g["target"]) for g in value["greedy"] + [{"target": t["pieces"]} for t in value["texts"]]]
    print(folder, "skipped", skipped, "of", len(lengths) + skipped, "lengths", lengths)
    with open(folder + ".json", "w", encoding="utf-8") as f:
        f.write("{" + ",\n".join('"%s": [\n%s\n]' % (k, ",\n".join(json.dumps(x, ensure_ascii=False) for x in v))
                                 for k, v in value.items()) + "}\n")


def make_all():
    make("swish", (64, 80, 4, 2, 1), torch.float32, 1, 1000, activation_function="swish", scale_embedding=True,
         generation={"num_beams": 6, "bad_words_ids": [[PAD]]})
    make("separate", (32, 48, 2, 1, 2), torch.float16, 2, 1200, separate=True, activation_function="gelu",
         scale_embedding=True, generation={"renormalize_logits": True, "bad_words_ids": [[PAD]]})
    make("multi", (32, 40, 4, 1, 1), torch.bfloat16, 3, 1500, tags=(">>deu<<", ">>fra<<", ">>cmn_Hans<<", ">>x_1<<"),
         activation_function="relu", scale_embedding=False, positions=lambda side, table: table)
    make("learned", (16, 24, 2, 1, 1), torch.float32, 4, 2000, activation_function="relu", scale_embedding=True,
         positions=lambda side, table: torch.round(512 * table * (0.9 if side == "encoder" else 1.1)) / 512)


if __name__ == "__main__":
    os.chdir(os.path.dirname(os.path.abspath(__file__)))
    if sys.argv[1:] != ["--answers"]:
        make_all()
    for name in ("swish", "separate", "multi", "learned"):
        answers(name)
