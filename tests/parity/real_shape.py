#!/usr/bin/env python3
"""M2M-100 (418M) and NLLB-200 (600M) in their real shape, beside transformers: a random model saved by transformers itself, converted, the
same pieces forced on both in float32, and greedy answers. Too large for `make test` (10 GB of disk and 5 GB of memory at a time).

  real_shape.py m2m100|nllb... --program build/release/bin/dragoman --work DIR --out FILE.json [--revision R]

Needs PyPI torch, transformers, sentencepiece, protobuf and numpy; scripts/test-real-shape installs them. Each side runs in a process of its
own, so that the peaks of memory are its own. Fails where a log-probability differs by more than TOLERANCE."""
import argparse
import datetime
import json
import os
import platform
import shutil
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
# Absolute difference of a piece's log-probability. Both sides compute in float32, but add in different orders.
TOLERANCE = 1e-4
SHAPE = dict(d_model=1024, encoder_layers=12, decoder_layers=12, encoder_ffn_dim=4096, decoder_ffn_dim=4096, encoder_attention_heads=16,
             decoder_attention_heads=16, max_position_embeddings=1024)
FAMILIES = {"m2m100": dict(vocab_size=128112, pieces=128000, class_="M2M100Tokenizer",
                           langs=[("__en__", "en"), ("__de__", "de"), ("__fr__", "fr"), ("__zh__", "zh"), ("__ar__", "ar")]),
            "nllb": dict(vocab_size=256206, pieces=256000, class_="NllbTokenizer",
                         langs=[("eng_Latn", "en"), ("deu_Latn", "de"), ("fra_Latn", "fr"), ("zho_Hans", "zh-Hans"), ("arb_Arab", "ar")])}
# Pieces of source and target: a single one, ordinary lengths, beyond a hundred positions.
LENGTHS = [(1, 1), (3, 5), (8, 6), (15, 20), (27, 27), (60, 45), (120, 110), (30, 200), (220, 25)]
GREEDY = [(2, 24), (9, 24), (25, 24), (70, 24)]  # (pieces of the source, most pieces of the answer)
SPM = "sentencepiece.bpe.model"
FIRST = ["<s>", "<pad>", "</s>", "<unk>"]


def write_spm(path, count):
    """Write a SentencePiece model of `count` pieces, as many as the real one has: the test model's, then made-up ones. Returns them."""
    from sentencepiece import sentencepiece_model_pb2 as pb
    model = pb.ModelProto()
    with open(os.path.join(HERE, "..", "data", "convert", "m2m100", "nllb", SPM), "rb") as f:
        model.ParseFromString(f.read())
    for i in range(len(model.pieces), count):
        model.pieces.add(piece=f"\u2581p{i}", score=-float(i))
    model.trainer_spec.vocab_size = count
    with open(path, "wb") as f:
        f.write(model.SerializeToString())
    return [p.piece for p in model.pieces]


def write_tokenizer(name, folder):
    """Write the tokenizer's files. Returns all pieces by id."""
    from transformers import M2M100Tokenizer
    from transformers.models.nllb.tokenization_nllb import FAIRSEQ_LANGUAGE_CODES
    family = FAMILIES[name]
    spm = write_spm(os.path.join(folder, SPM), family["pieces"])
    pieces = FIRST + spm[3:]
    config = {"tokenizer_class": family["class_"], "src_lang": "eng_Latn", "legacy_behaviour": False}
    if name == "m2m100":
        with open(os.path.join(folder, "vocab.json"), "w", encoding="utf-8") as f:
            json.dump({p: i for i, p in enumerate(pieces)}, f, ensure_ascii=False)
        config = {"tokenizer_class": family["class_"], "language_codes": "m2m100", "num_madeup_words": 8}
        t = M2M100Tokenizer(os.path.join(folder, "vocab.json"), os.path.join(folder, SPM))
        pieces = pieces + [t.get_lang_token(c) for c in t.lang_code_to_id]
    else:
        pieces = pieces + list(FAIRSEQ_LANGUAGE_CODES)
    with open(os.path.join(folder, "tokenizer_config.json"), "w", encoding="utf-8") as f:
        json.dump(config, f)
    return pieces


def build(name):
    """A model with random weights of the scale of trained ones: its logits have a standard deviation of three, so it is not flat."""
    import torch
    from transformers import M2M100Config, M2M100ForConditionalGeneration
    torch.manual_seed(11)
    config = M2M100Config(vocab_size=FAMILIES[name]["vocab_size"], **SHAPE, dropout=0, attention_dropout=0, activation_dropout=0,
                          encoder_layerdrop=0, decoder_layerdrop=0)
    model = M2M100ForConditionalGeneration(config).eval()
    with torch.no_grad():
        for key, p in model.named_parameters():
            if "layer_norm" in key:
                p.normal_(1.0 if key.endswith("weight") else 0.0, 0.1 if key.endswith("weight") else 0.05)
            elif p.dim() == 1:
                p.normal_(0, 0.02)
            else:
                p.normal_(0, config.d_model ** -0.5 if "shared" in key or "embed" in key else (2 / sum(p.shape)) ** 0.5)
        model.model.decoder.layer_norm.weight.mul_(3)
    return model


def ask(model, name, pieces):
    """Transformers' forced log-probabilities, and its greedy answers up to where the two best pieces are less than 1e-3 apart."""
    import numpy as np
    import torch
    rng, langs, found = np.random.default_rng(1), FAMILIES[name]["langs"], {"forced": [], "greedy": []}
    word = lambda n: rng.integers(4, FAMILIES[name]["pieces"], n).tolist()  # noqa: E731
    tag = {piece: pieces.index(piece) for piece, _ in langs}
    for i, (n, m) in enumerate(LENGTHS):
        (a, from_), (b, to) = langs[i % 5], langs[(i + 1 + i // 5) % 5]
        source, target = word(n), word(m)
        with torch.no_grad():
            logits = model(torch.tensor([[tag[a]] + source + [2]]), decoder_input_ids=torch.tensor([[2, tag[b]] + target])).logits[0]
        logprob = torch.log_softmax(logits.double(), -1)[1:]
        found["forced"].append({"from": from_, "to": to, "source": [pieces[x] for x in source], "target": [pieces[x] for x in target],
                                "logprobs": [float(logprob[i, t]) for i, t in enumerate(target + [2])]})
    for i, (n, most) in enumerate(GREEDY):
        (a, from_), (b, to) = langs[i % 5], langs[(i + 2) % 5]
        source = word(n)
        with torch.no_grad():
            out = model.generate(torch.tensor([[tag[a]] + source + [2]]), num_beams=1, do_sample=False, max_new_tokens=most + 1,
                                 forced_bos_token_id=tag[b], return_dict_in_generate=True, output_logits=True)
        best = [torch.topk(s[0].double(), 2).values for s in out.logits[1:]]
        clear = next((k for k, x in enumerate(best) if x[0] - x[1] < 1e-3), len(best))
        found["greedy"].append({"from": from_, "to": to, "source": [pieces[x] for x in source], "most": most,
                                "target": [pieces[x] for x in out.sequences[0, 2:2 + clear].tolist() if x != 2]})
    return found


def theirs(name, folder):
    """Transformers' side, which runs in its own process."""
    import torch
    import transformers
    torch.set_num_threads(1)
    shutil.rmtree(folder, ignore_errors=True)
    os.makedirs(folder)
    pieces, model = write_tokenizer(name, folder), build(name)
    found = ask(model, name, pieces)
    model.save_pretrained(folder)
    found.update(parameters=sum(p.numel() for p in model.parameters()), versions=f"transformers {transformers.__version__}, torch {torch.__version__}")
    with open(os.path.join(folder, "answers.json"), "w", encoding="utf-8") as f:
        json.dump(found, f)


class Ours:
    def __init__(self, program, bundle):
        self.program, self.bundle = program, bundle

    def run(self, args, text=""):
        p = subprocess.Popen([self.program] + args, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, encoding="utf-8")
        out = p.communicate(text)[0]
        if p.returncode:
            sys.exit(f"real_shape: dragoman {' '.join(args)} ended with {p.returncode}")
        return out

    def logprobs(self, case):
        paths = [os.path.join(self.bundle, "..", side) for side in ("source", "target")]
        for path, side in zip(paths, ("source", "target")):
            with open(path, "w", encoding="utf-8") as f:
                f.write(" ".join(case[side]) + "\n")
        tokens = json.loads(self.run(["score", "--model", self.bundle, "--source", paths[0], "--target", paths[1], "--tokens", "--json",
                                      "--source-lang", case["from"], "--target-lang", case["to"]]))["tokens"]
        if [t["token"] for t in tokens] != case["target"] + ["</s>"]:
            sys.exit(f"real_shape: other pieces were scored: {tokens}")
        return [t["logprob"] for t in tokens]

    def score(self, cases):
        """(largest difference of a log-probability, how many were compared, largest relative difference of a sum)"""
        pairs = [(self.logprobs(case), case["logprobs"]) for case in cases]
        return (max(abs(a - b) for ours, theirs in pairs for a, b in zip(ours, theirs)), sum(len(ours) for ours, _ in pairs),
                max(abs(sum(ours) / sum(theirs) - 1) for ours, theirs in pairs))

    def greedy(self, cases):
        """(equal pieces, pieces compared) of the answers, as far as their decisions are clear."""
        same = total = 0
        for case in cases:
            out = self.run(["translate", "--model", self.bundle, "--json", "--tokens", "--beam-size", "1", "--keep-loops", "--max-length",
                            str(case["most"]), "--source-lang", case["from"], "--target-lang", case["to"]], " ".join(case["source"]) + "\n")
            got = json.loads(out)["tokens"].split()
            same += sum(a == b for a, b in zip(got, case["target"]))
            total += len(case["target"])
        return same, total


def peak_of(command):
    """Run the command. Returns its peak memory in MB."""
    pid = os.posix_spawnp(command[0], command, os.environ)
    _, status, used = os.wait4(pid, 0)
    if status:
        sys.exit(f"real_shape: {' '.join(command)} failed")
    return used.ru_maxrss // 1024


def compare(name, a):
    folder, bundle = os.path.join(a.work, name), os.path.join(a.work, name, "bundle")
    made = peak_of([sys.executable, os.path.abspath(__file__), "theirs", name, folder])
    with open(os.path.join(folder, "answers.json"), encoding="utf-8") as f:
        expected = json.load(f)
    langs = ",".join(code for _, code in FAMILIES[name]["langs"])
    converted = peak_of([a.program, "convert", "huggingface", folder, "--source-lang", langs, "--target-lang", langs, "--out", bundle])
    ours = Ours(a.program, bundle)
    worst, count, _ = ours.score(expected["forced"])
    same, total = ours.greedy(expected["greedy"])
    quantised = peak_of([a.program, "quantize", bundle, "--out", bundle + "-int8"])
    _, _, lost = Ours(a.program, bundle + "-int8").score(expected["forced"])
    r = {"parameters": expected["parameters"], "beside": expected["versions"], "logprobs": count, "worst_difference": worst,
         "tolerance": TOLERANCE, "greedy_pieces": total, "greedy_equal": same, "int8_worst_relative_of_a_sum": round(lost, 5),
         "peak_mb": {"transformers": made, "convert": converted, "quantize": quantised}}
    shutil.rmtree(folder)
    print(f"{name}: {count} log-probabilities, the worst {worst:.2e} off; greedy {same} of {total}; int8 sums {100 * lost:.2f} % off; {r['peak_mb']}",
          flush=True)
    return r


def main():
    if sys.argv[1:2] == ["theirs"]:
        return theirs(*sys.argv[2:])
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("families", nargs="+", choices=list(FAMILIES))
    for option in ("program", "work", "out"):
        p.add_argument(f"--{option}", required=True)
    p.add_argument("--revision", default="unknown")
    a = p.parse_args()
    result = {}
    if os.path.exists(a.out):
        with open(a.out, encoding="utf-8") as f:
            result = json.load(f)
    for name in a.families:
        found = compare(name, a)
        result[name] = {"date": datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%d %H:%M UTC"), "revision": a.revision,
                        "machine": f"{platform.machine()}, {os.cpu_count()} cores", **found}
        with open(a.out, "w", encoding="utf-8") as f:
            f.write(json.dumps(result, indent=1) + "\n")
    failed = [n for n in a.families if result[n]["worst_difference"] > TOLERANCE or result[n]["greedy_equal"] != result[n]["greedy_pieces"]]
    return f"real_shape: not as transformers: {', '.join(failed)}" if failed else None


if __name__ == "__main__":
    sys.exit(main())
