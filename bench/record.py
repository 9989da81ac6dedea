"""Reads and writes a benchmark's result files."""
import json
import os
import time


def now():
    """The time in UTC, as results have it."""
    return time.strftime("%Y-%m-%d %H:%M UTC", time.gmtime())


def today():
    return now().split()[0]


def read(path):
    """The result in a JSON file."""
    with open(path, encoding="utf-8") as f:
        return json.load(f)


def read_if_there(path, otherwise=None):
    return read(path) if os.path.exists(path) else otherwise


def write(folder, name, texts):
    """Write a file `name` + suffix for each {suffix: text, or a value to store as JSON}, atomically. Returns the first path."""
    os.makedirs(folder or ".", exist_ok=True)
    paths = []
    for suffix, text in texts.items():
        paths.append(os.path.join(folder, name + suffix))
        with open(paths[-1] + ".tmp", "w", encoding="utf-8") as f:
            f.write(text if isinstance(text, str) else json.dumps(text, indent=1) + "\n")
        os.replace(paths[-1] + ".tmp", paths[-1])
    return paths[0]


def show(result, path):
    """Print a result as JSON and, where there is a path, write it there."""
    text = json.dumps(result, indent=1, ensure_ascii=False) + "\n"
    print(text, end="")
    if path:
        write(os.path.dirname(path), os.path.basename(path), {"": text})
