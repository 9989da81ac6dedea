"""Machine translation with Dragoman's engine.

    import dragoman
    with dragoman.Translator("en-de") as t:
        print(t.translate(["Two dogs play in the snow."])[0].text)

Any number of threads may use one Translator. Their sentences share its engines, which never changes an answer."""
from __future__ import annotations

import _thread
import collections
import concurrent.futures
import contextlib
import ctypes
import itertools
import operator
import os
import queue
import sys
import threading
from dataclasses import dataclass, field
from typing import Callable, Iterable, Iterator, Mapping, Optional, Sequence, Tuple, Union, overload

from . import _library
from ._library import library as _c

__all__ = ["BadFile", "DragomanError", "Hypothesis", "InvalidArgument", "NotFound", "Score", "Sentence", "Translation", "TranslatedTokens", "Translator", "__version__"]
__version__: str = _c.dragoman_version().decode()

Progress = Callable[[int, int], object]
_Path = Union[str, bytes, "os.PathLike[str]", "os.PathLike[bytes]"]
_FORMATS = ("text", "wrapped", "srt", "markdown", "html", "xml")
_PENALTIES = ("gnmt", "power", "none")
# CTranslate2's names of compute types; whether matrices are int8 is up to the bundle.
_PRECISIONS: Mapping[Optional[str], Optional[str]] = {
    "default": None, "auto": None, "int8": "fp32", "int8_float32": "fp32", "float32": "fp32", "int8_float16": "fp16", "float16": "fp16",
    "int8_bfloat16": "bf16", "bfloat16": "bf16"}
_OPTIONS = {name for name, *_ in _library.Options._fields_} - {"size", "progress", "progress_arg"}


class DragomanError(Exception):
    """An error: `code` as in dragoman.h, `index` of the text at fault, `field` (name) of the option at fault; None if unknown."""

    def __init__(self, message: str, code: int = 0, index: Optional[int] = None, field: Optional[str] = None):
        super().__init__(message)
        self.code, self.index, self.field = code, index, field


class InvalidArgument(DragomanError, ValueError):
    """An argument is invalid or exceeds a limit."""


class NotFound(DragomanError, LookupError):
    """The model or device does not exist."""


class BadFile(DragomanError, OSError):
    """A file cannot be read or is not a model."""


_CLASSES = {-1: InvalidArgument, -3: BadFile, -4: BadFile, -7: InvalidArgument, -8: NotFound}


@dataclass(frozen=True)
class Hypothesis:
    text: str
    score: float


@dataclass(frozen=True)
class Sentence:
    """A sentence: its character ranges in the text (`source`) and in the translation (`target`), the search's score, and flags."""
    source: Tuple[int, int]
    target: Tuple[int, int]
    score: float
    confidence: float
    flags: Tuple[str, ...]


@dataclass(frozen=True)
class Translation:
    text: str
    score: float
    #: the best n_best translations, best first; the first is `text`
    n_best: Tuple[Hypothesis, ...]
    #: what is unusual about the answer, such as "repetition"
    flags: Tuple[str, ...]
    sentences: Tuple[Sentence, ...]
    #: with alignments=True: pairs of character ranges, one in the text and the matching one in the translation
    alignments: Tuple[Tuple[Tuple[int, int], Tuple[int, int]], ...]

    def __str__(self) -> str:
        return self.text


@dataclass(frozen=True)
class TranslatedTokens:
    """The hypotheses of one answer as tokens, best first."""
    hypotheses: Tuple[Tuple[str, ...], ...]
    scores: Tuple[float, ...]
    flags: Tuple[str, ...]


@dataclass(frozen=True)
class Score:
    """The log-probability of a translation (`total`), and of each of its tokens, of which the last is </s>."""
    total: float
    tokens: Tuple[str, ...]
    log_probs: Tuple[float, ...] = field(repr=False)


def _encode(text: object, name: str, index: Optional[int] = None) -> bytes:
    """The UTF-8 of a str: an option of that name, or the text of that index."""
    where = name if index is None else f"{name} {index}"
    if not isinstance(text, str):
        raise TypeError(f"{where}: {text!r:.60}, it is a str")
    try:
        return text.encode()
    except UnicodeEncodeError as e:
        raise InvalidArgument(f"{where}: U+{ord(text[e.start]):04X} at character {e.start} is half of a surrogate pair", -1, index, name) from None


def _no_nul(name: str, encoded: bytes) -> bytes:
    """Refuse what C would end at a NUL."""
    if b"\0" in encoded:
        raise InvalidArgument(f"{name}: NUL character at byte {encoded.index(0)}", -1, None, name)
    return encoded


def _set(into: ctypes.Structure, member: str, value: object, name: Optional[str] = None) -> None:
    """Set a member unless the value is None. `name` is the caller's name of it. ctypes alone would take any number as the address of a
    string, and would wrap a number that is too large."""
    kind, name = dict(into._fields_)[member], name or member
    if value is None:
        return
    if kind is ctypes.c_char_p:
        value = _no_nul(name, _encode(value, name))
    elif kind is not ctypes.c_double:
        try:
            number = operator.index(value)
        except TypeError:
            raise TypeError(f"{name}: {value!r:.60}, it is a whole number") from None
        if kind(number).value != number:
            signed, bits = kind(-1).value < 0, 8 * ctypes.sizeof(kind)
            allowed = f"at most {2 ** (bits - signed) - 1}" if number > 0 else f"at least {-2 ** (bits - 1)}" if signed else "0 or more"
            raise InvalidArgument(f"{name}: {number}, it is {allowed}", -1, None, name)
        value = number
    setattr(into, member, value)


def _array(encoded: list):
    array = (_library.Text * len(encoded))(*((e, len(e)) for e in encoded))
    array.encoded = encoded  # keeps the bytes alive as long as the array
    return array, len(encoded)


def _several(texts: Iterable[str]) -> Iterable[str]:
    """Refuse one text in place of several: its letters would be the texts."""
    if isinstance(texts, (str, bytes)):
        raise TypeError(f"texts: a sequence of str is needed, not one {type(texts).__name__}")
    return texts


def _texts(texts: Iterable[str], before: int = 0):
    """An array of texts, and their number. `before`: the number of the caller's texts that went to earlier calls."""
    _several(texts)
    return _array([_encode(t, "text", before + i) for i, t in enumerate(texts)])


def _token_texts(lists: Iterable[Sequence[str]]):
    """Like _texts, for lists of tokens."""
    texts = []
    for i, tokens in enumerate(lists):
        if isinstance(tokens, (str, bytes)):  # its letters would be the tokens
            raise TypeError(f"text {i}: {tokens!r:.60}, it is a list of tokens")
        texts.append(" ".join(tokens))
    return _texts(texts)


def _fail(error: "_library.Error", cause: Optional[BaseException], before: int = 0) -> None:
    """Raise the cause, or the library's error; `before`: the number of the caller's texts that went to earlier calls."""
    if cause is not None:
        raise cause
    index = before + error.index if error.index >= 0 else None
    message = error.message.decode(errors="replace")
    raise _CLASSES.get(error.code, DragomanError)(
        message if index is None else f"text {index}: {message}", error.code, index, error.field.decode() or None)


def _flags(bits: int) -> Tuple[str, ...]:
    return tuple(_c.dragoman_flag_name(1 << i).decode() for i in range(32) if bits >> i & 1)


def _text(result: int, k: int) -> str:
    length = ctypes.c_size_t()
    data = _c.dragoman_result_text(result, k, ctypes.byref(length))
    return ctypes.string_at(data, length.value).decode()


def _translation(result: int) -> Translation:
    best = tuple(Hypothesis(_text(result, k), _c.dragoman_result_score(result, k)) for k in range(_c.dragoman_result_count(result)))
    s, sentences = _library.Sentence(), []
    for i in range(_c.dragoman_result_sentences(result)):
        _c.dragoman_result_sentence(result, i, ctypes.byref(s), ctypes.sizeof(s))
        sentences.append(Sentence((s.source_begin, s.source_end), (s.target_begin, s.target_end), s.score, s.confidence, _flags(s.flags)))
    a, alignments = _library.Alignment(), []
    for i in range(_c.dragoman_result_alignments(result)):
        _c.dragoman_result_alignment(result, i, ctypes.byref(a))
        alignments.append(((a.source_begin, a.source_end), (a.target_begin, a.target_end)))
    return Translation(best[0].text, best[0].score, best, _flags(_c.dragoman_result_flags(result)), tuple(sentences), tuple(alignments))


def _tokens(result: int) -> TranslatedTokens:
    t = _translation(result)
    # Only at the spaces between tokens: a token may be a space of another kind, such as U+3000.
    return TranslatedTokens(tuple(tuple(h.text.split(" ")) if h.text else () for h in t.n_best), tuple(h.score for h in t.n_best), t.flags)


def _score(result: int) -> Score:
    p, tokens, log_probs = ctypes.c_float(), [], []
    for i in range(_c.dragoman_result_tokens(result)):
        tokens.append(_c.dragoman_result_token(result, i, ctypes.byref(p)).decode())
        log_probs.append(p.value)
    return Score(_c.dragoman_result_score(result, 0), tuple(tokens), tuple(log_probs))


class _Thread:
    """A thread that may be started and waited for on the main thread. There, Ctrl-C raises between any two steps, and within threading's own
    classes, it could leave a lock locked for ever."""

    def __init__(self, work: Callable[[], object]):
        self.begun = self.ended = False
        self._work, self._running, self._process = work, threading.Lock(), os.getpid()
        self._running.acquire()

    def start(self) -> None:
        _thread.start_new_thread(self._run, ())

    def _run(self) -> None:
        self.begun = True
        try:
            self._work()
        finally:
            self.ended = True
            self._running.release()

    def wait(self) -> None:
        """Wait for its end, which never comes once Python ends, nor in a forked process."""
        if not self.ended and not sys.is_finalizing() and self._process == os.getpid():
            with self._running:
                pass


class _Call:
    """The options of one call, and all that must stay alive during it. An exception in a callback ends the call and is raised after it.
    `before`: the number of the caller's texts that went to earlier calls."""

    def __init__(self, given: dict, progress: Optional[Progress] = None, before: int = 0):
        for name in given.keys() - _OPTIONS:  # ctypes structures take any name
            raise TypeError(f"{name}: no such option, it is one of {', '.join(sorted(_OPTIONS))}")
        given = dict(given)
        self.error, self.cause, self.before = _library.Error(), None, before
        self.progress, self.told = progress, 0
        self.o = _library.Options()
        self.glossary = ctypes.c_void_p()
        _c.dragoman_options_init(ctypes.byref(self.o), ctypes.sizeof(self.o))
        for name, words in (("format", _FORMATS), ("length_penalty_kind", _PENALTIES)):
            word = given.pop(name, None)
            if word is not None and word not in words:
                raise InvalidArgument(f"{name}: {word!r}, it is one of {', '.join(words)}", -1, None, name)
            if word is not None:
                setattr(self.o, name, words.index(word))
        glossary = given.pop("glossary", None)
        for name, value in given.items():
            _set(self.o, name, value)
        # Set even without a user's callback: it is what ends the call on Ctrl-C.
        self.o.progress = _library.PROGRESS(lambda arg, done, n: self.tell(done, n))
        if glossary:
            sources, n = _array([_encode(s, "glossary") for s in glossary])
            targets, _ = _array([_encode(t, "glossary") for t in glossary.values()])
            if _c.dragoman_glossary_new(sources, targets, n, ctypes.byref(self.glossary), ctypes.byref(self.error)):
                _fail(self.error, None)
            self.o.glossary = self.glossary

    def run(self, work: Callable[[], list]) -> list:
        """Do a call's work, which releases all that it holds. On the main thread, Ctrl-C could raise anywhere, also within a callback, and be
        lost there. So another thread does the work, whatever happens here, and the main thread waits; after Ctrl-C, that thread's next
        callback ends the call."""
        if threading.current_thread() is not threading.main_thread():
            return work()
        outcome: list = []

        def call():
            try:
                outcome.append((work(), None))
            except BaseException as e:
                outcome.append(([], e))

        thread = _Thread(call)
        try:
            thread.start()
            thread.wait()
        except BaseException as e:
            self.cause = self.cause or e
            if thread.begun:  # one that begins later finds the cause
                thread.wait()
            raise
        result, failure = outcome.pop()
        try:
            if failure is not None:
                raise failure
            return result
        finally:
            del failure  # it refers to this frame

    def tell(self, done: int, n: int) -> int:
        """After each sentence: call the user's callback if a text is done, and end the call if there is a cause."""
        try:
            if self.progress is not None and self.cause is None and done != self.told:
                self.told = done
                self.progress(done, n)
        except BaseException as e:
            self.cause = e
        return int(self.cause is not None)

    def close(self) -> None:
        _c.dragoman_glossary_free(self.glossary)
        self.glossary = ctypes.c_void_p()


class Translator:
    """A loaded model with its engines.

    model: a bundle's folder, the name of an installed one, or two languages such as "en-de".
    device: "cpu", "cuda", "cuda:N" or "auto"; compute_type: arithmetic on a GPU, "fp32", "fp16", "bf16" or CTranslate2's name of it.
    inter_threads: engines that run in parallel (0: one per core); intra_threads: threads per engine."""

    def __init__(self, model: _Path, device: Optional[str] = None, *, compute_type: Optional[str] = None,
                 inter_threads: int = 0, intra_threads: int = 0, max_beam_size: int = 0, max_length: int = 0):
        error, options = _library.Error(), _library.OpenOptions()
        self._model: Optional[ctypes.c_void_p] = None
        self._own()
        _c.dragoman_open_options_init(ctypes.byref(options), ctypes.sizeof(options))
        for member, value, name in (("device", device, "device"), ("precision", _PRECISIONS.get(compute_type, compute_type), "compute_type"),
                                    ("workers", inter_threads, "inter_threads"), ("threads", intra_threads, "intra_threads"),
                                    ("max_beam_size", max_beam_size, "max_beam_size"), ("max_length", max_length, "max_length")):
            _set(options, member, value, name)
        model_pointer = ctypes.c_void_p()
        if _c.dragoman_open(_no_nul("model", os.fsencode(model)), ctypes.byref(options), ctypes.byref(model_pointer), ctypes.byref(error)):
            _fail(error, None)
        self._model = model_pointer

    def close(self) -> None:
        """Wait for running calls to end, then release the model. Not within a callback of a call, which would wait for itself."""
        idle = self._condition()
        with idle:
            if threading.get_ident() in self._users:
                raise DragomanError("a callback cannot close the translator of its own call")
            model, self._model = self._model, None
            while model is not None and self._users:
                idle.wait()
        if model is not None:
            _c.dragoman_close(model)

    def __enter__(self) -> "Translator":
        return self

    def __exit__(self, *exception) -> None:
        self.close()

    def __reduce__(self) -> str:
        raise TypeError("a Translator cannot be copied or pickled: threads may share one; open one in each process")

    def __del__(self) -> None:
        if getattr(self, "_model", None) is not None:
            self.close()

    def _condition(self) -> threading.Condition:
        """Return _idle; in a forked process, where the old one may be locked for ever, a new one."""
        if self._process != os.getpid():
            self._own()
        return self._idle

    def _own(self) -> None:
        """Make this process the one that uses the translator. _users: the threads in calls, one entry for each call."""
        self._process, self._idle = os.getpid(), threading.Condition()
        self._users: list[int] = []

    @contextlib.contextmanager
    def _use(self) -> Iterator[ctypes.c_void_p]:
        """Hold the model during a call: close() waits until the call ends."""
        with self._condition():
            if self._model is None:
                raise DragomanError("the translator is closed")
            self._users.append(threading.get_ident())
            model = self._model
        try:
            yield model
        finally:
            idle = self._condition()
            with idle:
                if threading.get_ident() in self._users:  # not in a process that was forked within the call
                    self._users.remove(threading.get_ident())
                idle.notify_all()

    @property
    def name(self) -> str:
        with self._use() as m:
            return _c.dragoman_model_name(m).decode()

    @property
    def version(self) -> str:
        with self._use() as m:
            return _c.dragoman_model_version(m).decode()

    @property
    def device(self) -> str:
        with self._use() as m:
            return _c.dragoman_model_device(m).decode()

    @property
    def pairs(self) -> Tuple[Tuple[str, str], ...]:
        """The language pairs of the model, as (source, target)."""
        with self._use() as m:
            source, target, pairs = ctypes.c_char_p(), ctypes.c_char_p(), []
            for i in range(_c.dragoman_model_pairs(m)):
                _c.dragoman_model_pair(m, i, ctypes.byref(source), ctypes.byref(target))
                pairs.append((source.value.decode(), target.value.decode()))
            return tuple(pairs)

    def _results(self, function, arrays, n: int, call: _Call, read: Callable[[int], object]) -> list:
        def work() -> list:
            results = ctypes.c_void_p()
            try:
                with self._use() as m:
                    rc = function(m, *arrays, n, ctypes.byref(call.o), ctypes.byref(results), ctypes.byref(call.error))
                    try:
                        if rc or call.cause:
                            _fail(call.error, call.cause, call.before)
                        return [read(_c.dragoman_results_at(results, i)) for i in range(n)]
                    finally:
                        _c.dragoman_results_free(results)
            finally:
                call.close()
        return call.run(work)

    @overload
    def translate(self, texts: str, source: Optional[str] = None, target: Optional[str] = None, **options) -> Translation: ...
    @overload
    def translate(self, texts: Sequence[str], source: Optional[str] = None, target: Optional[str] = None, **options) -> list[Translation]: ...

    def translate(self, texts, source=None, target=None, *, beam_size: Optional[int] = None, n_best: Optional[int] = None,
                  length_penalty: Optional[float] = None, length_penalty_kind: Optional[str] = None, length_penalty_cap: Optional[float] = None,
                  max_length: Optional[int] = None, temperature: Optional[float] = None, top_k: Optional[int] = None, seed: Optional[int] = None,
                  target_prefix: Optional[str] = None, glossary: Optional[Mapping[str, str]] = None, format: Optional[str] = None,
                  alignments: bool = False, rerank: bool = False, keep_loops: bool = False, one_sentence: bool = False,
                  progress: Optional[Progress] = None):
        """Translate a text, or a list of texts of any length. Calls `progress(done, n)` after each text, on another thread if called on
        the main thread. An exception in it ends the call."""
        options = {k: v for k, v in locals().items() if k not in ("self", "texts", "progress")}
        one = isinstance(texts, str)
        array, n = _texts([texts] if one else texts)
        found = self._results(_c.dragoman_translate, (array,), n, _Call(options, progress), _translation)
        return found[0] if one else found

    def translate_batch(self, source: Sequence[Sequence[str]], source_lang: Optional[str] = None, target_lang: Optional[str] = None, *,
                        beam_size: Optional[int] = None, num_hypotheses: Optional[int] = None, length_penalty: Optional[float] = None,
                        max_decoding_length: Optional[int] = None, sampling_temperature: Optional[float] = None, sampling_topk: Optional[int] = None,
                        seed: Optional[int] = None, progress: Optional[Progress] = None, max_batch_size: int = 0, batch_type: str = "examples",
                        return_scores: bool = True) -> list[TranslatedTokens]:
        """Translate lists of vocabulary tokens, with these arguments of CTranslate2's method of this name. Three have no effect:
        `max_batch_size` and `batch_type`, because the library forms batches, and `return_scores`, because scores are always there.
        As in CTranslate2, `sampling_topk` alone samples at temperature 1."""
        if sampling_temperature is None and sampling_topk == 1:
            sampling_topk = None  # the other library's default: a search
        elif sampling_temperature is None and sampling_topk is not None:
            sampling_temperature = 1.0
        array, n = _token_texts(source)
        call = _Call({"source": source_lang, "target": target_lang, "beam_size": beam_size, "n_best": num_hypotheses,
                      "length_penalty": length_penalty, "max_length": max_decoding_length, "temperature": sampling_temperature,
                      "top_k": sampling_topk, "seed": seed, "tokens": 1}, progress)
        return self._results(_c.dragoman_translate, (array,), n, call, _tokens)

    def translate_iterable(self, texts: Iterable[str], source: Optional[str] = None, target: Optional[str] = None, *,
                           window: int = 1024, **options) -> Iterator[Translation]:
        """Yield the translations of an iterable of texts, in order. Reads up to two windows ahead to keep the engines busy."""
        if window < 1:
            raise InvalidArgument(f"window: {window}, it is 1 or more", -1, None, "window")
        progress = options.pop("progress", None)
        given = dict(options, source=source, target=target)
        waiting: "collections.deque[Tuple[_Call, concurrent.futures.Future]]" = collections.deque()
        it, before = iter(_several(texts)), 0
        with concurrent.futures.ThreadPoolExecutor(2) as pool:
            try:
                while True:
                    while len(waiting) < 2 and (some := list(itertools.islice(it, window))):
                        array, n = _texts(some, before)
                        call = _Call(given, progress, before)
                        before += n
                        waiting.append((call, pool.submit(self._results, _c.dragoman_translate, (array,), n, call, _translation)))
                    if not waiting:
                        return
                    yield from waiting[0][1].result()
                    waiting.popleft()
            finally:  # the pool waits for its threads, so end their calls
                for call, future in waiting:
                    call.cause = call.cause or concurrent.futures.CancelledError()
                    if future.cancel():
                        call.close()

    def stream(self, text: str, source: Optional[str] = None, target: Optional[str] = None, **options) -> Iterator[str]:
        """Yield the translation of a text sentence by sentence, each as soon as it is done. A text without letters is one sentence.
        Leaving the loop cancels the rest."""
        array, n = _texts([text])
        call = _Call(dict(options, source=source, target=target))
        out: "queue.SimpleQueue" = queue.SimpleQueue()
        gone = told = False

        def sentence(arg, i, answer, length, s):
            nonlocal told
            told = True
            out.put(ctypes.string_at(answer, length).decode())
            return int(gone)

        def whole(arg, i, result):
            if not told and (answer := _text(result, 0)):
                out.put(answer)
            return int(gone)

        stream = _library.Stream()
        _c.dragoman_stream_init(ctypes.byref(stream), ctypes.sizeof(stream))
        stream.sentence, stream.result = _library.SENTENCE(sentence), _library.RESULT(whole)

        def run():
            try:
                with self._use() as m:
                    rc = _c.dragoman_translate_stream(m, array, n, ctypes.byref(call.o), ctypes.byref(stream), ctypes.byref(call.error))
                    if rc and not gone:
                        _fail(call.error, None)
                out.put(None)
            except Exception as e:
                out.put(e)
            finally:
                call.close()

        thread = _Thread(run)
        try:
            thread.start()
            while (item := out.get()) is not None:
                if isinstance(item, Exception):
                    raise item
                yield item
        finally:
            gone = True
            if thread.begun:
                thread.wait()

    def score(self, sources: Sequence[str], targets: Sequence[str], source: Optional[str] = None, target: Optional[str] = None, *,
              progress: Optional[Progress] = None) -> list[Score]:
        """Return the log-probability of each target as the translation of its source."""
        return self._scores(_texts(sources), _texts(targets), {"source": source, "target": target}, progress)

    def score_batch(self, source: Sequence[Sequence[str]], target: Sequence[Sequence[str]], source_lang: Optional[str] = None,
                    target_lang: Optional[str] = None, *, max_batch_size: int = 0, batch_type: str = "examples") -> list[Score]:
        """Like score(), for lists of tokens. `max_batch_size` and `batch_type` are CTranslate2's and have no effect."""
        return self._scores(_token_texts(source), _token_texts(target), {"source": source_lang, "target": target_lang, "tokens": 1}, None)

    def _scores(self, sources, targets, options: dict, progress: Optional[Progress]) -> list[Score]:
        (first, n), (second, m) = sources, targets
        if n != m:
            raise InvalidArgument(f"{n} sources and {m} targets", -1)
        return self._results(_c.dragoman_score, (first, second), n, _Call(options, progress), _score)
