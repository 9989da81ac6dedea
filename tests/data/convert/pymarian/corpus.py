"""A small rule-based language pair, whose sentences a toy model learns in a minute. The same sentences every time."""
import random

NOUNS = [("dog", "Hund", "m"), ("cat", "Katze", "f"), ("child", "Kind", "n"), ("woman", "Frau", "f"), ("man", "Mann", "m"),
         ("bird", "Vogel", "m"), ("house", "Haus", "n"), ("garden", "Garten", "m"), ("book", "Buch", "n"),
         ("teacher", "Lehrerin", "f"), ("river", "Fluss", "m"), ("town", "Stadt", "f")]
VERBS = [("sees", "sieht"), ("likes", "mag"), ("finds", "findet"), ("buys", "kauft"), ("draws", "zeichnet"),
         ("watches", "betrachtet")]
ADJECTIVES = [("old", "alt"), ("small", "klein"), ("red", "rot"), ("quiet", "still"), ("new", "neu")]
PLACES = [("today", "heute"), ("in the morning", "am Morgen"), ("near the river", "am Fluss"), ("with 24 friends", "mit 24 Freunden"),
          ("in 2017", "im Jahr 2017")]
NOMINATIVE = {"m": ("der", "ein", "e", "er"), "f": ("die", "eine", "e", "e"), "n": ("das", "ein", "e", "es")}
ACCUSATIVE = {"m": ("den", "einen", "en", "en"), "f": ("die", "eine", "e", "e"), "n": ("das", "ein", "e", "es")}


SYLLABLES = [c + v for c in "bdfgklmnprstvwz" for v in "aeiou"]


def phrase(rnd, forms):
    if rnd.random() < 0.25:  # a name, which the translation copies
        name = "".join(rnd.choice(SYLLABLES) for _ in range(rnd.choice([2, 2, 3]))).capitalize()
        return name, name
    english, german, gender = rnd.choice(NOUNS)
    definite, indefinite, weak, strong = forms[gender]
    the = rnd.random() < 0.5
    words = [["the" if the else "a"], [definite if the else indefinite]]
    for adjective in rnd.sample(ADJECTIVES, rnd.choice([0, 0, 1, 2])):
        words[0].append(adjective[0])
        words[1].append(adjective[1] + (weak if the else strong))
    words[0].append(english)
    if words[0][0] == "a" and words[0][1][0] in "aeiou":
        words[0][0] = "an"
    return " ".join(words[0]), " ".join(words[1] + [german])


def clause(rnd):
    subject, objekt, verb = phrase(rnd, NOMINATIVE), phrase(rnd, ACCUSATIVE), rnd.choice(VERBS)
    english, german = "%s %s %s" % (subject[0], verb[0], objekt[0]), "%s %s %s" % (subject[1], verb[1], objekt[1])
    if rnd.random() < 0.4:
        place = rnd.choice(PLACES)
        english, german = english + " " + place[0], german + " " + place[1]
    return english, german


def sentence(rnd, clauses):
    parts = [clause(rnd) for _ in range(clauses)]
    texts = [" and ".join(p[0] for p in parts), " und ".join(p[1] for p in parts)]
    return tuple(t[0].upper() + t[1:] + "." for t in texts)


def pairs(n, seed, clauses=(1, 1, 1, 2)):
    rnd = random.Random(seed)
    return [sentence(rnd, rnd.choice(clauses)) for _ in range(n)]
