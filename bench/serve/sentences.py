"""English sentences to translate, put together from parts: as many as wanted, all different, and the same ones each time.
A long one is still one sentence, made of several clauses."""
import json
import random

WHO = ("a man", "a woman", "two children", "an old farmer", "the young teacher", "a group of students", "my neighbour",
       "three workers", "the tall girl", "a small boy", "the doctor", "several tourists", "her brother", "our driver",
       "a musician", "the baker", "two friends", "an engineer", "the captain", "a family")
WEARING = ("", "", "in a red jacket", "with a blue hat", "in white shoes", "with short hair", "in a long coat",
           "with a green backpack", "in dark glasses", "with a heavy bag")
# (singular, plural)
DOES = (("is riding", "are riding"), ("is carrying", "are carrying"), ("is looking at", "are looking at"),
        ("has bought", "have bought"), ("is waiting for", "are waiting for"), ("wants to see", "want to see"),
        ("is talking about", "are talking about"), ("has found", "have found"), ("is painting", "are painting"),
        ("remembers", "remember"), ("is standing next to", "are standing next to"), ("is selling", "are selling"))
WHAT = ("a bicycle", "the wooden boat", "an old house", "a big brown dog", "the morning train", "two horses", "a book",
        "the market", "a new map", "some flowers", "a yellow car", "the bridge", "a table", "the last bus",
        "an open window", "a bottle of water", "the football match", "a letter", "the tree", "a guitar")
WHERE = ("", "near the river", "in the snow", "on the beach", "in front of the station", "at the end of the street",
         "behind the church", "in the park", "on a narrow road", "in the kitchen", "beside the lake", "in the city")
WHEN = ("", "", "in the morning", "on a sunny day", "every evening", "after the rain", "before dinner", "at night",
        "in the summer", "on Sunday")
JOIN = ("while", "and", "because", "although", "before", "when", "after", "so that in the end", "but")


def clause(rng):
    who = rng.choice(WHO)
    several = who.split()[0] in ("two", "three", "several")
    parts = (who, rng.choice(WEARING), rng.choice(DOES)[several], rng.choice(WHAT), rng.choice(WHERE), rng.choice(WHEN))
    return " ".join(p for p in parts if p)


def sentence(rng, words):
    """One sentence of at least `words` words."""
    text = clause(rng)
    while len(text.split()) < words:
        text += f", {rng.choice(JOIN)} {clause(rng)}"
    return text[0].upper() + text[1:] + "."


def distinct(rng, n, least, most):
    seen = {}
    for _ in range(50 * n):
        if len(seen) == n:
            break
        seen[sentence(rng, rng.randint(least, most))] = None
    return list(seen)


def write_items(path, pair, n_short, n_long, words_a_token=0.75):
    """Write candidates. Some will not have the length of their class in tokens; keep() drops those."""
    rng = random.Random(1)
    items = [("short", s) for s in distinct(rng, n_short, 4, int(26 * words_a_token))]
    items += [("long", s) for s in distinct(rng, n_long, int(105 * words_a_token), int(180 * words_a_token))]
    rng.shuffle(items)
    with open(path, "w", encoding="utf-8") as f:
        for kind, text in items:
            body = {"text": text, "source": pair[0], "target": pair[1]}
            f.write(json.dumps({"class": kind, "body": body}, ensure_ascii=False) + "\n")


LENGTHS = {"short": (5, 30), "long": (100, 200)}


def keep(path):
    """Drop learned items whose source does not have its class's length, or is not one sentence. Returns {class: items left}."""
    left = dict.fromkeys(LENGTHS, 0)
    kept = []
    with open(path, encoding="utf-8") as f:
        for line in f:
            item = json.loads(line)
            least, most = LENGTHS[item["class"]]
            answer = item["answer"]
            if least <= answer["usage"]["source_tokens"] <= most and len(answer["translations"][0]["sentences"]) == 1:
                kept.append(line)
                left[item["class"]] += 1
    with open(path, "w", encoding="utf-8") as f:
        f.writelines(kept)
    return left


def words_a_token(path):
    """Mean words per source token of the learned items."""
    words = tokens = 0
    with open(path, encoding="utf-8") as f:
        for line in f:
            item = json.loads(line)
            words += len(item["body"]["text"].split())
            tokens += item["answer"]["usage"]["source_tokens"]
    return words / tokens
