"""libdragoman through ctypes: its structures and functions, as dragoman.h declares them. ctypes releases the GIL during every call."""
import ctypes
import os
from ctypes import CFUNCTYPE, POINTER, Structure, c_char, c_char_p, c_double, c_float, c_int, c_int64, c_size_t, c_uint32, c_uint64, c_void_p

ABI = 0

PROGRESS = CFUNCTYPE(c_int, c_void_p, c_size_t, c_size_t)


class Error(Structure):
    _fields_ = [("code", c_int), ("index", c_int64), ("field", c_char * 64), ("message", c_char * 512)]


class OpenOptions(Structure):
    _fields_ = [("size", c_size_t), ("device", c_char_p), ("precision", c_char_p), ("workers", c_int), ("threads", c_int),
                ("max_beam_size", c_uint32), ("max_length", c_uint32)]


class Text(Structure):
    _fields_ = [("data", c_char_p), ("size", c_size_t)]


class Options(Structure):
    _fields_ = [("size", c_size_t), ("source", c_char_p), ("target", c_char_p), ("beam_size", c_uint32), ("n_best", c_uint32),
                ("max_length", c_uint32), ("length_penalty", c_double), ("length_penalty_kind", c_int), ("length_penalty_cap", c_double),
                ("temperature", c_double), ("top_k", c_uint32), ("seed", c_uint64), ("target_prefix", c_char_p), ("glossary", c_void_p),
                ("format", c_int), ("tokens", c_int), ("alignments", c_int), ("keep_loops", c_int), ("one_sentence", c_int),
                ("progress", PROGRESS), ("progress_arg", c_void_p), ("rerank", c_int)]


class Sentence(Structure):
    _fields_ = [("source_begin", c_size_t), ("source_end", c_size_t), ("target_begin", c_size_t), ("target_end", c_size_t),
                ("score", c_double), ("confidence", c_double), ("flags", c_uint32)]


class Alignment(Structure):
    _fields_ = [("source_begin", c_size_t), ("source_end", c_size_t), ("target_begin", c_size_t), ("target_end", c_size_t)]


SENTENCE = CFUNCTYPE(c_int, c_void_p, c_size_t, c_void_p, c_size_t, POINTER(Sentence))
RESULT = CFUNCTYPE(c_int, c_void_p, c_size_t, c_void_p)


class Stream(Structure):
    _fields_ = [("size", c_size_t), ("arg", c_void_p), ("sentence", SENTENCE), ("result", RESULT)]


# name: (return type, argument types...)
FUNCTIONS = {
    "version": (c_char_p,),
    "abi": (c_int,),
    "flag_name": (c_char_p, c_uint32),
    "open_options_init": (None, POINTER(OpenOptions), c_size_t),
    "open": (c_int, c_char_p, POINTER(OpenOptions), POINTER(c_void_p), POINTER(Error)),
    "close": (None, c_void_p),
    "model_name": (c_char_p, c_void_p),
    "model_version": (c_char_p, c_void_p),
    "model_path": (c_char_p, c_void_p),
    "model_device": (c_char_p, c_void_p),
    "model_pairs": (c_size_t, c_void_p),
    "model_pair": (c_int, c_void_p, c_size_t, POINTER(c_char_p), POINTER(c_char_p)),
    "glossary_new": (c_int, POINTER(Text), POINTER(Text), c_size_t, POINTER(c_void_p), POINTER(Error)),
    "glossary_free": (None, c_void_p),
    "options_init": (None, POINTER(Options), c_size_t),
    "stream_init": (None, POINTER(Stream), c_size_t),
    "translate": (c_int, c_void_p, POINTER(Text), c_size_t, POINTER(Options), POINTER(c_void_p), POINTER(Error)),
    "translate_stream": (c_int, c_void_p, POINTER(Text), c_size_t, POINTER(Options), POINTER(Stream), POINTER(Error)),
    "score": (c_int, c_void_p, POINTER(Text), POINTER(Text), c_size_t, POINTER(Options), POINTER(c_void_p), POINTER(Error)),
    "results_at": (c_void_p, c_void_p, c_size_t),
    "results_free": (None, c_void_p),
    "result_count": (c_size_t, c_void_p),
    "result_text": (c_void_p, c_void_p, c_size_t, POINTER(c_size_t)),
    "result_score": (c_double, c_void_p, c_size_t),
    "result_flags": (c_uint32, c_void_p),
    "result_sentences": (c_size_t, c_void_p),
    "result_sentence": (c_int, c_void_p, c_size_t, POINTER(Sentence), c_size_t),
    "result_alignments": (c_size_t, c_void_p),
    "result_alignment": (c_int, c_void_p, c_size_t, POINTER(Alignment)),
    "result_tokens": (c_size_t, c_void_p),
    "result_token": (c_char_p, c_void_p, c_size_t, POINTER(c_float)),
}


def _open():
    """Load $DRAGOMAN_LIBRARY, otherwise the library in the wheel, otherwise the system's."""
    named = os.environ.get("DRAGOMAN_LIBRARY")
    if named:
        return ctypes.CDLL(named)
    folder = os.path.join(os.path.dirname(os.path.abspath(__file__)), "lib")
    own = os.path.join(folder, f"libdragoman.so.{ABI}")
    if not os.path.exists(own):
        return ctypes.CDLL(f"libdragoman.so.{ABI}")
    # Load its dependencies first, each after its own: the dynamic loader finds libraries that are loaded already by their names.
    with open(os.path.join(folder, "order.txt"), encoding="utf-8") as f:
        for name in f.read().split():
            ctypes.CDLL(os.path.join(folder, name))
    return ctypes.CDLL(own)


library = _open()
for _name, (_returns, *_takes) in FUNCTIONS.items():
    _function = getattr(library, "dragoman_" + _name)
    _function.restype, _function.argtypes = _returns, _takes
if library.dragoman_abi() != ABI:
    raise ImportError(f"libdragoman has ABI {library.dragoman_abi()}, this package is for {ABI}")
