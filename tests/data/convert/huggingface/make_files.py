#!/usr/bin/env python3
"""Run after make.py. Makes files/: the weights of three of make.py's models as torch.save writes them (in a zip, and without one as
before torch 1.6) and as safetensors in shards; and uneven/, whose encoder and decoder differ in feed-forward size and heads, with
pytorch_model.bin alone. Needs what make.py needs."""
import json
import os
import shutil

import torch
from safetensors.torch import load_file, save_file
from transformers import MarianConfig, MarianMTModel

import make


def files():
    os.makedirs("files", exist_ok=True)
    for name in ("learned", "separate", "multi"):
        weights = load_file(name + "/model.safetensors")
        if name == "learned":  # tied matrices share one storage, as in files that transformers saved
            weights["lm_head.weight"] = weights["model.encoder.embed_tokens.weight"] = weights["model.shared.weight"]
        torch.save(weights, f"files/{name}.bin")
        torch.save(weights, f"files/{name}.legacy.bin", _use_new_zipfile_serialization=False)
    weights = load_file("learned/model.safetensors")
    names, shards = sorted(weights), ["model-00001-of-00002.safetensors", "model-00002-of-00002.safetensors"]
    halves = names[:len(names) // 2], names[len(names) // 2:]
    for shard, half in zip(shards, halves):
        save_file({n: weights[n].clone() for n in half}, "files/" + shard, {"format": "pt"})
    index = {"metadata": {}, "weight_map": {n: shard for shard, half in zip(shards, halves) for n in half}}
    with open("files/model.safetensors.index.json", "w") as f:
        json.dump(index, f, indent=1)


def uneven():
    shutil.rmtree("uneven", ignore_errors=True)
    shutil.copytree("learned", "uneven")
    os.remove("uneven/model.safetensors")
    config = MarianConfig.from_pretrained("learned", d_model=32, encoder_ffn_dim=48, decoder_ffn_dim=40,
                                          encoder_attention_heads=4, decoder_attention_heads=2, encoder_layers=2)
    torch.manual_seed(5)
    model = MarianMTModel(config).eval()
    with torch.no_grad():
        for name, p in model.named_parameters():
            if p.dim() == 2 and "embed_positions" not in name:
                p.mul_(4)
    config.save_pretrained("uneven")
    torch.save(model.state_dict(), "uneven/pytorch_model.bin")
    make.answers("uneven")


os.chdir(os.path.dirname(os.path.abspath(__file__)))
files()
uneven()
