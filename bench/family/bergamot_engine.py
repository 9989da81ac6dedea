#!/usr/bin/env python3
"""The Bergamot engine's half of the comparison: translates the lines of a file and prints one JSON line.

  python3.10 bergamot_engine.py CONFIG TEXTS

Needs PyPI `bergamot==0.4.5` (CPython 3.10 at the latest). Only the wheel's extension is loaded, because importing its
Python package fetches an index over the network. Both clocks leave out loading and a first translation."""
import glob
import importlib.util
import json
import os
import sys
import sysconfig
import time


def extension():
    path = glob.glob(os.path.join(sysconfig.get_paths()["platlib"], "bergamot", "_bergamot*.so"))[0]
    spec = importlib.util.spec_from_file_location("_bergamot", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def main():
    config, texts = sys.argv[1:]
    with open(texts, encoding="utf-8") as f:
        lines = f.read().splitlines()
    bergamot = extension()
    service = bergamot.Service(bergamot.ServiceConfig(numWorkers=1, logLevel="off"))
    model = service.modelFromConfigPath(config)
    service.translate(model, bergamot.VectorString(lines[:1]), bergamot.ResponseOptions())
    wall, cpu = time.perf_counter(), time.process_time()
    answers = service.translate(model, bergamot.VectorString(lines), bergamot.ResponseOptions())
    wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
    words = [len(a.target.text.split()) for a in answers]
    print(json.dumps({"backend": "bergamot 0.4.5", "sentences": len(lines), "words_out": sum(words), "seconds": wall,
                      "cpu_s": cpu}))


main()
