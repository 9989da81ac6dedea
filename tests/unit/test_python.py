"""The Python package: its wheel is built and installed into an empty environment, where it gives the command line's answers."""
import json
import os
import re
import shutil
import subprocess

import pytest

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
BUILD = os.environ.get("DRAGOMAN_BUILD", os.path.join(ROOT, "build", "release"))
TEXTS = ["Two dogs play in the snow.", "A man is riding a bike. A girl is smiling.", "", "12345", "A girl in a red dress is singing."]

with open(os.path.join(BUILD, "CMakeCache.txt"), encoding="utf-8") as cache:
    pytestmark = pytest.mark.skipif(bool(re.search(r"^DG_SANITIZE:STRING=.+$", cache.read(), re.M)),
                                    reason="Python has no sanitizer's library")


def run(*command, **more):
    done = subprocess.run(command, capture_output=True, text=True, **more)
    assert done.returncode == 0, f"{command}: {done.stdout}{done.stderr}"
    return done.stdout


@pytest.fixture(scope="module")
def python(tmp_path_factory):
    """A function that runs code in a Python with only the wheel installed, in a folder without sources."""
    folder = tmp_path_factory.mktemp("python")
    wheel = os.path.join(ROOT, run(os.path.join(ROOT, "scripts", "wheel"), BUILD).split()[1])
    run("/usr/bin/python3", "-m", "venv", str(folder / "venv"))
    run(str(folder / "venv/bin/pip"), "install", "--quiet", "--no-index", "--disable-pip-version-check", wheel)
    clean = {k: v for k, v in os.environ.items() if not k.startswith(("DRAGOMAN_", "PYTHON"))}

    def run_code(code):
        return run(str(folder / "venv/bin/python"), "-c", code, cwd=folder, env=clean)
    return run_code


def cli(*options):
    return run(os.path.join(BUILD, "bin", "dragoman"), *options, input="".join(t + "\n" for t in TEXTS))


MODEL = ["--model", os.path.join(ROOT, "weights", "bundles", "en-de-fr"), "--source-lang", "en", "--target-lang", "de"]


def test_texts_scores_and_alignments_are_the_command_line_s(python):
    got = python(f"""
import dragoman, json
with dragoman.Translator("en-de") as t:
    for a in t.translate({TEXTS!r}, beam_size=4, n_best=3, alignments=True):
        print(json.dumps([a.text, a.score, [[h.text, h.score] for h in a.n_best], a.alignments, a.flags]))
""").splitlines()
    want = cli("translate", *MODEL, "--json", "--beam-size", "4", "--n-best", "3", "--alignments").splitlines()
    assert len(got) == len(want) == len(TEXTS)
    for g, w in zip(map(json.loads, got), map(json.loads, want)):
        best = w.get("n_best", [w])
        assert g == [w["text"], w["score"], [[h["text"], h["score"]] for h in best], w["alignment"], w["flags"]]


def test_languages_with_scripts(python, tmp_path):
    """Each hyphen of a pair's name may be the one between its languages."""
    bundle = tmp_path / "models" / "chinese"
    shutil.copytree(MODEL[1], bundle)
    manifest = (bundle / "manifest.json").read_text()
    (bundle / "manifest.json").write_text(re.sub(r'"(en-|)de(-en|)"', r'"\1zh-Hans\2"', manifest))
    got = python(f"""
import dragoman, os
os.environ["DRAGOMAN_MODELS"] = {str(bundle.parent)!r}
for name in "zh-Hans-en", "en-zh-Hans":
    with dragoman.Translator(name) as t:
        print(t.translate("Zwei Hunde.").text)
try:
    dragoman.Translator("zh-Hant-en")
except dragoman.NotFound as e:
    print(e)
""").splitlines()
    assert len(got) == 3 and got[2].startswith('"zh-Hant-en" is not a folder')


def test_scores_are_the_command_line_s(python, tmp_path):
    sources, targets = ["A dog.", "Two men are working."], ["Ein Hund.", "Zwei Hunde arbeiten."]
    for name, lines in (("source", sources), ("target", targets)):
        (tmp_path / name).write_text("".join(x + "\n" for x in lines))
    want = [json.loads(x) for x in cli("score", *MODEL, "--json", "--source", str(tmp_path / "source"), "--target",
                                       str(tmp_path / "target")).splitlines()]
    got = json.loads(python(f"""
import dragoman, json
print(json.dumps([[s.total, s.tokens, s.log_probs] for s in dragoman.Translator("en-de").score({sources!r}, {targets!r})]))
"""))
    assert [g[0] for g in got] == [w["score"] for w in want]
    assert [g[1] for g in got] == [[t["token"] for t in w["tokens"]] for w in want]
    assert [g[2] for g in got] == [[t["logprob"] for t in w["tokens"]] for w in want]


def test_batches_iterables_streams_and_threads_agree(python):
    assert python(f"""
import dragoman, threading
texts = {TEXTS!r}
t = dragoman.Translator("en-de-fr", inter_threads=2)
want = [a.text for a in t.translate(texts)]
many = [texts[i % 5] for i in range(1300)]
assert [a.text for a in t.translate(many)] == [want[i % 5] for i in range(1300)]
assert [a.text for a in t.translate_iterable(iter(many[:23]), window=4)] == [want[i % 5] for i in range(23)]
assert " ".join(t.stream(texts[1])) == want[1]
next(t.stream(texts[1]))  # left early
tokens = t.score(["x"], ["Ein Hund."])[0].tokens[:-1]
back = t.translate_batch([list(tokens)] * 3, "de", "en", num_hypotheses=2, beam_size=4)
assert len(back) == 3 and len(back[0].hypotheses) == len(back[0].scores) == 2 and back[0] == back[2]
assert "".join(back[0].hypotheses[0]).replace("\\u2581", " ").strip() == "A dog."
taken = dict(beam_size=1, return_scores=True, max_batch_size=8, batch_type="tokens")  # as CTranslate2 is called
drawn = [t.translate_batch([list(tokens)], "de", "en", sampling_topk=40, seed=i, **taken) for i in range(8)]
assert drawn == [t.translate_batch([list(tokens)], "de", "en", sampling_topk=40, sampling_temperature=1, seed=i, **taken) for i in range(8)]
assert t.translate_batch([list(tokens)], "de", "en", sampling_topk=1, **taken) == t.translate_batch([list(tokens)], "de", "en", **taken)  # its default there
assert len({{str(d) for d in drawn}}) > 1 and len(drawn[0][0].scores) == 1
assert len(t.score_batch([list(tokens)], [["\u2581A"]], "de", "en", max_batch_size=8, batch_type="tokens")) == 1
found = [None] * 6
def work(i):
    found[i] = [a.text for a in t.translate(texts)]
threads = [threading.Thread(target=work, args=(i,)) for i in range(6)]
[x.start() for x in threads]; [x.join() for x in threads]
assert found == [want] * 6
print("done", t.name, t.device, ("en", "de") in t.pairs)
""") == "done en-de-fr cpu True\n"


def test_the_gil_is_let_go_of(python):
    """Another thread runs during a call."""
    python(f"""
import dragoman, threading
t = dragoman.Translator("en-de", inter_threads=1)
turns, done = 0, threading.Event()
def call():
    t.translate(["A man is riding a bike."] * 400, one_sentence=True)
    done.set()
thread = threading.Thread(target=call)
thread.start()
while not done.wait(0.001):
    turns += 1
assert turns > 10, turns
""")


def test_progress_errors_and_interrupts(python):
    python(f"""
import dragoman, os, signal, threading
t = dragoman.Translator("en-de")
seen = []
t.translate({TEXTS!r}, progress=lambda done, n: seen.append((done, n)))
assert seen[-1] == (5, 5) and seen == sorted(seen)
def stop(done, n): raise RuntimeError("enough")
def raises(what, f, *a, **k):
    try: f(*a, **k)
    except what as e: return e
    raise AssertionError(what)
assert str(raises(RuntimeError, t.translate, {TEXTS!r}, progress=stop)) == "enough"
e = raises(ValueError, t.translate, ["a", "b"], target="xx")
assert isinstance(e, dragoman.DragomanError) and e.field == "target" and e.index == 0
assert raises(dragoman.InvalidArgument, t.translate, "a", beam_size=99).field == "beam_size"
raises(dragoman.InvalidArgument, t.translate, "a", format="pdf")
raises(TypeError, t.translate_batch, "not tokens" and [1])
raises(LookupError, dragoman.Translator, "no-such-model")
raises(LookupError, dragoman.Translator, os.path.dirname(dragoman.__file__))
os.mkdir("damaged")
open("damaged/manifest.json", "w").write("{{")
raises(OSError, dragoman.Translator, "damaged")
assert "Vierbeiner" in t.translate("Two dogs play in the snow.", glossary={{"dogs": "Vierbeiner"}}).text
threading.Timer(0.3, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
raises(KeyboardInterrupt, lambda: [t.translate(["A man is riding a bike."] * 1000) for _ in range(1000)])
t.close()
raises(dragoman.DragomanError, t.translate, "a")
""")


# A function that sends Ctrl-C soon, and returns how long a call lasts that it interrupts; sentences that take `whole` seconds, ten or
# more on a fast machine, too, so that a call that waited for them is told from one that did not.
INTERRUPTED = """
import dragoman, os, signal, threading, time
signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's background jobs ignore it
t = dragoman.Translator("en-de")
def some(n): return [f"The man number {i} is riding a red bike with {i + 3} dogs in the snow." for i in range(n)]
def last(call):
    begin = time.monotonic()
    timer = threading.Timer(0.5, lambda: os.kill(os.getpid(), signal.SIGINT))
    timer.start()
    try: call()
    except KeyboardInterrupt: return time.monotonic() - begin
    raise AssertionError("not interrupted")
begin = time.monotonic()
t.translate(some(300))
each = (time.monotonic() - begin) / 300
sentences = some(max(6000, int(10 / each)))
whole = each * len(sentences)
"""


@pytest.mark.parametrize("call", ["t.translate(' '.join(sentences))", "list(t.translate_iterable(sentences, window=len(sentences) // 2))",
                                  "list(t.translate_iterable([' '.join(sentences)]))"])
def test_an_interrupt_does_not_wait_for_a_text_or_a_window(python, call):
    python(INTERRUPTED + f"took = last(lambda: {call})\nassert took < whole / 3, (took, whole)")


@pytest.mark.parametrize("call", ["t.translate(texts, glossary={'dog': 'Tier'})", "t.score(texts, texts)", "list(t.stream(' '.join(texts)))"])
def test_an_interrupt_while_a_call_begins(python, call):
    """It used to leave the call at work with memory that was freed: signals that come while a thread starts raise within Thread.start."""
    python(f"""
import _thread, dragoman, faulthandler, random, signal, threading
faulthandler.dump_traceback_later(100, exit=True)
texts = ["A dog.", "A man is riding a bike."] * 50
start = _thread.start_new_thread
def interrupted(*a):
    start(*a)
    raise KeyboardInterrupt
for _ in range(5):
    t = dragoman.Translator("en-de", inter_threads=1)
    _thread.start_new_thread = threading._start_new_thread = interrupted
    try: {call}
    except KeyboardInterrupt: pass
    else: raise AssertionError("not interrupted")
    finally: _thread.start_new_thread = threading._start_new_thread = start
    t.close()
t, texts, chance = dragoman.Translator("en-de", inter_threads=1), texts[:1], random.Random(1)
class Out(BaseException): pass
def alarm(*a): raise Out
signal.signal(signal.SIGALRM, alarm)
for _ in range(300):
    try:
        signal.setitimer(signal.ITIMER_REAL, chance.uniform(1e-5, chance.choice([3e-4, 5e-3])))
        {call}
        signal.setitimer(signal.ITIMER_REAL, 0)
    except Out: pass
assert t.translate("A dog.").text == "Ein Hund."
""")


def test_a_forked_process(python):
    """It used to hang when it ended, or in its first call: the threads of the engines are not there."""
    python("""
import dragoman, os, signal, sys
t = dragoman.Translator("en-de", inter_threads=1)
open_stream = t.stream("A dog. " * 50)
next(open_stream)
t._idle.acquire()  # as if another thread had it
child = os.fork()
if child == 0:
    signal.alarm(60)
    for call in lambda: t.translate("A dog."), lambda: list(t.stream("A dog.")), lambda: list(t.translate_iterable(["A dog."])):
        try: call()
        except dragoman.InvalidArgument as e: assert "open a model after the fork" in str(e), e
        else: os._exit(2)
    with dragoman.Translator("en-de", inter_threads=1) as own:
        if own.translate("A dog.").text != "Ein Hund.": os._exit(3)
    sys.exit(0)
t._idle.release()
assert os.waitpid(child, 0)[1] == 0
assert t.translate("A dog.").text == "Ein Hund." and len(list(open_stream)) == 49
""")


def test_a_callback_does_not_close_its_translator(python):
    """close() waited for its own call for ever, and Ctrl-C did not end it. close() in another thread still waits for the call."""
    python("""
import dragoman, signal, threading
signal.alarm(60)
t, closer = dragoman.Translator("en-de", inter_threads=1), []
try: t.translate(["A dog."] * 3, progress=lambda done, n: t.close())
except dragoman.DragomanError as e: assert "callback" in str(e), e
else: raise AssertionError("closed")

def close_beside(done, n):
    if not closer:
        closer.append(threading.Thread(target=t.close))
        closer[0].start()
assert [x.text for x in t.translate(["A dog."] * 3, progress=close_beside)] == ["Ein Hund."] * 3
closer[0].join()
try: t.translate("A dog.")
except dragoman.DragomanError as e: assert "closed" in str(e), e
else: raise AssertionError("open")
""")


def test_compute_types_of_ctranslate2(python):
    """The page says that the argument is the same; only the library's own names were taken."""
    python("""
import dragoman
names = ["default", "auto", "int8", "int8_float32", "int8_float16", "int8_bfloat16", "float16", "bfloat16", "float32", "fp32", "fp16", "bf16"]
for name in names:
    with dragoman.Translator("en-de", "cpu", compute_type=name, inter_threads=1) as t:
        assert t.translate("A dog.").text == "Ein Hund.", name
for name in "int16", "float":
    try: dragoman.Translator("en-de", compute_type=name)
    except dragoman.InvalidArgument as e: assert name in str(e), e
    else: raise AssertionError(name)
""")


def test_a_translator_is_not_copied(python):
    """A copy used to share the model, which was closed twice."""
    python("""
import copy, dragoman, gc, pickle
t = dragoman.Translator("en-de", inter_threads=1)
for f in copy.copy, copy.deepcopy, pickle.dumps:
    try: f(t)
    except TypeError as e: assert "open one in each process" in str(e), e
    else: raise AssertionError(f)
gc.collect()
answer = t.translate("A dog.")
assert answer.text == "Ein Hund." and pickle.loads(pickle.dumps(answer)) == copy.copy(answer) == answer
""")


def test_an_iterable_left_early_ends_its_calls(python):
    python(INTERRUPTED + """
found = t.translate_iterable([sentences[0], ' '.join(sentences)], window=1)
next(found)
begin = time.monotonic()
found.close()
took = time.monotonic() - begin
assert took < whole / 3, (took, whole)
""")


def test_the_index_of_an_iterable_s_text(python):
    """It used to count from the window, of which the caller does not know where it began."""
    python("""
import dragoman
t = dragoman.Translator("en-de")
answers = t.translate_iterable(["A dog."] * 4 + ["A\\0dog.", "A dog."], window=2)
found = [next(answers).text for _ in range(4)]
try: next(answers)
except dragoman.InvalidArgument as e: assert e.index == 4 and str(e).startswith("text 4: "), (e, e.index)
else: raise AssertionError
""")


def test_wrong_options_are_refused(python):
    python("""
import dragoman
t = dragoman.Translator("en-de")
def refused(what, name, f):
    try: list(f())
    except what as e: assert str(e).startswith(name + ":"), e
    else: raise AssertionError(name)
refused(TypeError, "beamsize", lambda: t.stream("Two dogs.", beamsize=1))
refused(TypeError, "progress_arg", lambda: t.stream("Two dogs.", progress_arg=1))
refused(TypeError, "num_hypotheses", lambda: t.translate_iterable(["Two dogs."], num_hypotheses=2))
refused(dragoman.InvalidArgument, "window", lambda: t.translate_iterable(["Two dogs."], window=0))
seen = []
assert [a.text for a in t.translate_iterable(["Two dogs. A girl."] * 2, window=1, beam_size=1, progress=lambda *a: seen.append(a))]
assert seen == [(1, 1), (1, 1)], seen
""")


def test_values_that_c_would_take_for_others(python):
    """A number too large for its type, a number in place of a string, a NUL within a string: refused with the option's name."""
    python("""
import dragoman
t = dragoman.Translator("en-de", inter_threads=1)
def refused(what, name, f):
    try: f()
    except what as e: assert str(e).startswith(name + ":") and getattr(e, "field", name) == name, (e, e.field)
    else: raise AssertionError(name)
wrong, open_ = dragoman.InvalidArgument, dragoman.Translator
for name, value in (("beam_size", 2 ** 32 + 1), ("beam_size", -1), ("max_length", 2 ** 32 + 5), ("seed", -1), ("seed", 2 ** 64),
                    ("alignments", 2 ** 32), ("target_prefix", "Ei\\0n"), ("target", "de\\0fr"), ("source", "\\ud800"), ("glossary", {"dog": "\\udc00"})):
    refused(wrong, name, lambda: t.translate("A dog.", **{name: value}))
for name, value in (("target", 5), ("target_prefix", 5), ("source", b"en"), ("beam_size", 1.5), ("beam_size", "4"), ("glossary", {"dog": 5})):
    refused(TypeError, name, lambda: t.translate("A dog.", **{name: value}))
refused(TypeError, "device", lambda: open_("en-de", 5))
refused(wrong, "inter_threads", lambda: open_("en-de", inter_threads=2 ** 32 + 1))
refused(wrong, "max_length", lambda: open_("en-de", max_length=-1))
refused(wrong, "model", lambda: open_("en-de\\0fr"))
assert t.translate("A dog.", temperature=1.0, seed=2 ** 64 - 1, target=None).text
assert len(t.translate("A dog.", alignments=True).alignments) > 0
""")


def test_a_text_that_is_none_is_named(python):
    python("""
import dragoman
t = dragoman.Translator("en-de", inter_threads=1)
calls = (lambda bad: t.translate(["A dog.", bad]), lambda bad: list(t.translate_iterable(["A dog.", bad], window=1)),
         lambda bad: t.score(["A dog.", bad], ["Ein Hund."] * 2), lambda bad: t.score(["A dog."] * 2, ["Ein Hund.", bad]))
for call in calls:
    for bad in None, b"A cat.", float("nan"), ["A cat."]:
        try: call(bad)
        except TypeError as e: assert str(e).startswith("text 1:"), e
        else: raise AssertionError(bad)
    try: call("A \\ud800.")
    except dragoman.InvalidArgument as e: assert "U+D800 at character 2" in str(e) and (e.index, e.field) == (1, "text"), e
    else: raise AssertionError("a surrogate")
for one, call in ("bytes", lambda: t.translate(b"A cat.")), ("str", lambda: t.score("A dog.", ["Ein Hund."])), \
        ("str", lambda: list(t.translate_iterable("A cat."))):
    try: call()
    except TypeError as e: assert str(e).endswith(f"not one {one}"), e
    else: raise AssertionError(one)
""")


def test_a_text_without_letters_is_streamed(python):
    assert python("""
import dragoman
t = dragoman.Translator("en-de", inter_threads=1)
print([list(t.stream(s)) for s in ("12345", " 1.5 % ", "", "A dog.")], t.translate(" 1.5 % ").text == " 1.5 % ")
""") == "[['12345'], [' 1.5 % '], [], ['Ein Hund.']] True\n"


def test_lists_of_tokens(python):
    """A str in place of a list was translated letter by letter, and a token that is white space was lost."""
    python("""
import dragoman
t = dragoman.Translator("en-de", inter_threads=1)
tokens = ["\\u2581A", "\\u2581dog", "."]
for call in lambda: t.translate_batch([tokens, "A dog."]), lambda: t.score_batch([tokens] * 2, [tokens, "A dog."]):
    try: call()
    except TypeError as e: assert str(e).endswith(": 'A dog.', it is a list of tokens"), e
    else: raise AssertionError
class Answer: n_best, flags = [dragoman.Hypothesis("a \\u3000 b\\u2028c", 0.0), dragoman.Hypothesis("", 0.0)], ()
dragoman._translation = lambda result: Answer
assert dragoman._tokens(0).hypotheses == (("a", "\\u3000", "b\\u2028c"), ())
""")


def test_paths_of_any_bytes(python, tmp_path):
    folder = os.path.join(os.fsencode(tmp_path), b"m\xff")
    shutil.copytree(os.fsencode(MODEL[1]), folder)
    python(f"""
import dragoman, os, pathlib
class Path:
    def __fspath__(self): return {folder!r}
for path in {folder!r}, os.fsdecode({folder!r}), pathlib.Path(os.fsdecode({folder!r})), Path():
    dragoman.Translator(path, inter_threads=1).close()
""")


def test_the_page_s_example_prints_what_it_shows(python):
    with open(os.path.join(ROOT, "docs", "embed.md"), encoding="utf-8") as f:
        page = f.read().split("## Python")[1]
    assert python(re.search(r"```python\n(.*?)```", page, re.S).group(1)) == re.search(r"```text\n(.*?)```", page, re.S).group(1)


def test_it_is_typed_and_says_its_version(python):
    version = re.search(r"project\(dragoman VERSION ([\d.]+)", open(os.path.join(ROOT, "CMakeLists.txt")).read()).group(1)
    said = python("import dragoman, importlib.metadata, os; print(dragoman.__version__, importlib.metadata.version('dragoman'), "
                  "os.path.exists(os.path.join(os.path.dirname(dragoman.__file__), 'py.typed')))")
    assert said.split() == [version, version, "True"]
