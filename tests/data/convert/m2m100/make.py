#!/usr/bin/env python3
"""Makes the M2M-100 and NLLB directories in this folder, and NAME.json, transformers' answers with them. The random weights are
trained briefly and saved by transformers itself. `make.py --answers` keeps the directories and makes only the expected values.
Needs PyPI torch, transformers, safetensors, sentencepiece and numpy (made with 2.15.0, 5.23.0, 0.8.0, 0.2.3 and 2.4.6).

  m2m    F32, d 48, two encoder layers and one decoder layer, M2M-100's vocab.json and languages
  nllb   F16, d 48, one and two layers, NLLB's ids (those of its SentencePiece model plus one) and 202 languages

A search is kept only if the two best pieces of each step are at least 1e-3 apart."""
import io
import json
import os
import shutil
import sys
import warnings

import numpy as np
import sentencepiece
import torch
from transformers import M2M100Config, M2M100ForConditionalGeneration, M2M100Tokenizer
from transformers.models.nllb.tokenization_nllb import FAIRSEQ_LANGUAGE_CODES

warnings.filterwarnings("ignore")
torch.set_num_threads(1)
HERE = os.path.dirname(os.path.abspath(__file__))
CORPUS = open(HERE + "/../../tokenizer/corpus.txt", encoding="utf-8").read().splitlines()
FIRST = ["<s>", "<pad>", "</s>", "<unk>"]
LIMIT = 130
SPM = "sentencepiece.bpe.model"


def train_spm(path):
    model = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(CORPUS[:40]), model_writer=model, vocab_size=120, model_type="bpe", unk_id=0, bos_id=1, eos_id=2,
        pad_id=-1, num_threads=1, minloglevel=2, normalization_rule_name="identity")
    with open(path, "wb") as f:
        f.write(model.getvalue())
    spm = sentencepiece.SentencePieceProcessor(model_file=path)
    return [spm.id_to_piece(i) for i in range(spm.get_piece_size())]


def languages(name):
    if name == "nllb":
        return list(FAIRSEQ_LANGUAGE_CODES)
    tokenizer = M2M100Tokenizer(f"{name}/vocab.json", f"{name}/{SPM}")
    return [tokenizer.get_lang_token(c) for c in tokenizer.lang_code_to_id]


def vocabulary(name):
    """(pieces by id with the languages, number of pieces without them): fairseq's first four pieces, then the SentencePiece model's
    pieces from id 3 on, as in M2M-100's vocab.json and in NLLB."""
    spm = sentencepiece.SentencePieceProcessor(model_file=f"{name}/{SPM}")
    pieces = FIRST + [spm.id_to_piece(i) for i in range(3, spm.get_piece_size())]
    return pieces + languages(name), len(pieces)


def train(model, seed, steps, n_pieces):
    """Train for a few hundred steps on an invented language (each piece has its own translation, which depends on the target
    language), so that outputs vary and end; then round to multiples of 1/512, which compress well."""
    torch.manual_seed(seed)
    rng = np.random.default_rng(seed)
    words = np.arange(4, n_pieces)
    optimizer = torch.optim.Adam(model.parameters(), lr=1, betas=(0.9, 0.98))
    rate = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda t: 0.004 * min((t + 1) / 100, (100 / (t + 1)) ** 0.5))
    model.train()
    for step in range(steps):
        n, rows = (int(rng.integers(1, 120)), 6) if step % 5 == 0 else (int(rng.integers(1, 14)), 24)
        picked = rng.integers(0, len(words), (rows, n))
        tags = n_pieces + rng.integers(0, 100, (rows, 2))
        end = np.full((rows, 1), 2)
        ids = np.concatenate([tags[:, :1], words[picked], end], 1)
        labels = np.concatenate([tags[:, 1:], words[(picked * 7 + tags[:, 1:] % 3) % len(words)], end], 1)
        loss = model(torch.tensor(ids), labels=torch.tensor(labels)).loss
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        rate.step()
    model.eval()
    with torch.no_grad():
        for p in model.parameters():
            p.copy_(torch.round(p * 512) / 512)
    return float(loss)


def make(name, sizes, dtype, seed, steps):
    shutil.rmtree(name, ignore_errors=True)
    os.makedirs(name)
    spm = train_spm(f"{name}/{SPM}")
    tokenizer = {"tokenizer_class": "NllbTokenizer", "src_lang": "eng_Latn", "legacy_behaviour": False}
    if name == "m2m":
        with open("m2m/vocab.json", "w", encoding="utf-8") as f:
            json.dump({p: i for i, p in enumerate(FIRST + spm[3:])}, f, ensure_ascii=False, indent=0)
        tokenizer = {"tokenizer_class": "M2M100Tokenizer", "language_codes": "m2m100", "num_madeup_words": 8}
    with open(f"{name}/tokenizer_config.json", "w") as f:
        json.dump(tokenizer, f, indent=2)
    pieces, n_pieces = vocabulary(name)
    D, F, dec_F, H, enc, dec = sizes
    config = M2M100Config(
        vocab_size=len(pieces) + (8 if name == "m2m" else 3), d_model=D, encoder_layers=enc, decoder_layers=dec, encoder_ffn_dim=F,
        decoder_ffn_dim=dec_F, encoder_attention_heads=H, decoder_attention_heads=H, max_position_embeddings=160, dropout=0,
        attention_dropout=0, activation_dropout=0, encoder_layerdrop=0, decoder_layerdrop=0, init_std=0.1)
    model = M2M100ForConditionalGeneration(config)
    print(name, len(pieces), "loss", train(model, seed, steps, n_pieces))
    model.generation_config.num_beams = 5
    model.to(dtype).save_pretrained(name)


def greedy(model, ids, lead):
    out = model.generate(torch.tensor([ids]), num_beams=1, do_sample=False, max_new_tokens=LIMIT + 1, forced_bos_token_id=lead,
                         return_dict_in_generate=True, output_logits=True)
    got = out.sequences[0, 2:].tolist()  # without </s> and the language at the start
    gaps = [float(-(b := torch.topk(s[0].double(), 2).values)[1] + b[0]) for s in out.logits[1:]]
    return (got[:-1] if got[-1] == 2 else got), got[-1] != 2, min(gaps)


@torch.no_grad()
def forced(model, ids, lead, target):
    logits = model(torch.tensor([ids]), decoder_input_ids=torch.tensor([[2, lead] + target])).logits[0].double()
    logprob = torch.log_softmax(logits, -1)[1:]
    return [round(float(logprob[i, t]), 7) for i, t in enumerate(target + [2])]


def answers(name):
    """Write the expected values: the model as read from the directory, in float32."""
    pieces, n_pieces = vocabulary(name)
    model = M2M100ForConditionalGeneration.from_pretrained(name, dtype=torch.float32, attn_implementation="eager").eval()
    spm = sentencepiece.SentencePieceProcessor(model_file=f"{name}/{SPM}")
    rng = np.random.default_rng(1)
    langs = {"m2m": ["__en__", "__de__", "__fr__", "__ns__", "__zh__"],
             "nllb": ["eng_Latn", "deu_Latn", "fra_Latn", "zho_Hans", "arb_Arab"]}[name]
    tag = {c: pieces.index(c) for c in langs}
    value = {"forced": [], "greedy": [], "texts": []}

    def pair(i):
        return langs[i % 5], langs[(i * 2 + 1) % 5] if i % 5 != (i * 2 + 1) % 5 else langs[(i + 1) % 5]
    for i, (n, m) in enumerate([(1, 1), (3, 5), (7, 4), (12, 15), (25, 20), (118, 105), (60, 128), (130, 30)]):
        s, t = rng.integers(4, n_pieces, n).tolist(), rng.integers(4, n_pieces, m).tolist()
        a, b = pair(i)
        value["forced"].append({"from": a, "to": b, "source": [pieces[x] for x in s], "target": [pieces[x] for x in t],
                                "logprobs": forced(model, [tag[a]] + s + [2], tag[b], t)})
    skipped = 0
    for i, n in enumerate([1, 2, 3, 4, 5, 6, 8, 10, 13, 17, 22, 28, 35, 50, 80, 110, 125, 140]):
        s = rng.integers(4, n_pieces, n).tolist()
        a, b = pair(i)
        got, limited, gap = greedy(model, [tag[a]] + s + [2], tag[b])
        skipped += gap < 1e-3
        if gap >= 1e-3:
            value["greedy"].append({"from": a, "to": b, "source": [pieces[x] for x in s], "target": [pieces[x] for x in got],
                                    "length_limited": limited})
    tokenizer = M2M100Tokenizer(f"{name}/vocab.json", f"{name}/{SPM}") if name == "m2m" else None
    for i, text in enumerate(x for x in CORPUS[:20] if not any(m in x for m in (". ", "? ", "! "))):
        a, b = pair(i)
        if tokenizer:
            tokenizer.src_lang = a.strip("_")
            ids = tokenizer(text).input_ids
        else:  # transformers' NllbTokenizer needs a converted file; its ids are documented: fairseq's offset of one
            ids = [tag[a]] + [x + 1 if x >= 3 else 3 for x in spm.encode(text)] + [2]
        got, limited, gap = greedy(model, ids, tag[b])
        skipped += gap < 1e-3
        if gap >= 1e-3:
            value["texts"].append({"from": a, "to": b, "text": text, "pieces": [pieces[x] for x in got],
                                   "answer": spm.decode([pieces[x] for x in got]), "length_limited": limited})
    print(name, "skipped", skipped, "lengths", [len(g["target"]) for g in value["greedy"]], [len(t["pieces"]) for t in value["texts"]])
    with open(name + ".json", "w", encoding="utf-8") as f:
        f.write("{" + ",\n".join('"%s": [\n%s\n]' % (k, ",\n".join(json.dumps(x, ensure_ascii=False) for x in v))
                                 for k, v in value.items()) + "}\n")


if __name__ == "__main__":
    os.chdir(HERE)
    if sys.argv[1:] != ["--answers"]:
        make("m2m", (48, 64, 56, 4, 2, 1), torch.float32, 3, 900)
        make("nllb", (48, 64, 64, 2, 1, 2), torch.float16, 2, 900)
    for name in ("m2m", "nllb"):
        answers(name)
