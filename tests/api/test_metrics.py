"""GET /metrics: the format, the names, and that the numbers are those of what happened."""
import os
import re
import shutil
import signal
import subprocess
import time
from concurrent.futures import ThreadPoolExecutor

import pytest
import yaml

import bundle
from conftest import CLI, NARROW, ROOT, Server, http_post, long_text

SAMPLE = re.compile(r'([a-z_]+)(?:\{((?:[a-z]+="(?:[^"\\]|\\.)*",?)*)\})? (\S+)')


def read(server):
    """{(name, frozenset of labels): value}, checking the format on the way."""
    reply = server.get("/metrics")
    assert reply.status_code == 200
    assert reply.headers["Content-Type"] == "text/plain; version=0.0.4; charset=utf-8"
    values, types, current = {}, {}, None
    for line in reply.text.splitlines():
        if line.startswith("# HELP "):
            current = line.split(" ")[2]
            assert current not in types, "twice: " + current
            continue
        if line.startswith("# TYPE "):
            _, _, name, kind = line.split(" ")
            assert name == current
            types[name] = kind
            continue
        name, labels, value = SAMPLE.fullmatch(line).groups()
        base = re.sub(r"_(bucket|sum|count)$", "", name) if types[current] == "histogram" else name
        assert base == current, line
        key = (name, frozenset(re.findall(r'([a-z]+)="((?:[^"\\]|\\.)*)"', labels or "")))
        assert key not in values, line
        values[key] = float(value)
    return values, types


def value(values, name, **labels):
    return values.get((name, frozenset(labels.items())), 0)


def test_promtool_likes_it(server):
    promtool = shutil.which("promtool")
    if not promtool:
        pytest.skip("no promtool (Debian package prometheus)")
    server.translate("Hello.")
    server.get("/nope")
    text = server.get("/metrics").text
    done = subprocess.run([promtool, "check", "metrics"], input=text, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0 and done.stdout + done.stderr == "", done.stdout + done.stderr


def test_histograms_are_cumulative(server):
    server.translate(["One. Two.", "Three."])
    values, types = read(server)
    for name in (n for n, kind in types.items() if kind == "histogram"):
        series = {}
        for (sample, labels), v in values.items():
            if sample == name + "_bucket":
                bound = dict(labels)["le"]
                series.setdefault(frozenset(l for l in labels if l[0] != "le"), []).append((float(bound), v))
        assert series, name
        for labels, buckets in series.items():
            buckets.sort()
            counts = [v for _, v in buckets]
            assert counts == sorted(counts) and buckets[-1][0] == float("inf")
            assert counts[-1] == values[(name + "_count", labels)]


def test_names_that_dashboards_rely_on(server):
    server.translate("Hello.")
    _, types = read(server)
    assert {n for n, kind in types.items() if kind == "counter"} >= {
        "dragoman_requests_total", "dragoman_http_requests_total", "dragoman_sentences_total",
        "dragoman_characters_total", "dragoman_source_tokens_total", "dragoman_target_tokens_total",
        "dragoman_decode_steps_total", "dragoman_truncated_total", "dragoman_length_limit_hits_total",
        "dragoman_unknown_tokens_total", "dragoman_repetition_detected_total", "dragoman_low_confidence_total",
        "dragoman_number_mismatch_total", "dragoman_source_language_doubtful_total", "dragoman_word_copied_total", "process_cpu_seconds_total"}
    assert {n for n, kind in types.items() if kind == "histogram"} >= {
        "dragoman_http_request_duration_seconds", "dragoman_queue_wait_seconds", "dragoman_stage_duration_seconds",
        "dragoman_batch_rows", "dragoman_batch_sentences", "dragoman_step_seconds",
        "dragoman_time_to_first_sentence_seconds"}
    assert {n for n, kind in types.items() if kind == "gauge"} >= {
        "dragoman_ready", "dragoman_build_info", "dragoman_model_info", "dragoman_queue_depth", "dragoman_queue_tokens",
        "dragoman_queue_sentences", "dragoman_queue_seconds", "dragoman_queue_all_seconds", "dragoman_connections_open", "dragoman_model_reload_in_progress",
        "dragoman_cache_blocks", "dragoman_http_requests_in_flight", "dragoman_batches_under_way",
        "dragoman_model_load_seconds", "dragoman_last_success_timestamp_seconds", "process_resident_memory_bytes",
        "dragoman_workers_busy", "process_open_fds", "process_max_fds", "process_start_time_seconds"}


def test_numbers_are_what_happened(models, tmp_path):
    shutil.copytree(models, tmp_path / "m")
    bundle.make(CLI, str(tmp_path / "m" / "es-en"), "es", "en", D=128, F=256, end_bias=-30.0, seed=3)  # a slow one
    with Server(str(tmp_path / "m"), "--threads", "1") as server:
        before, _ = read(server)
        assert value(before, "dragoman_ready") == 1
        assert value(before, "dragoman_requests_total", dialect="v1", outcome="ok") == 0
        assert value(before, "dragoman_last_success_timestamp_seconds") == 0
        usage = server.translate(["Hello there. General greeting.", "Three."]).json()["usage"]
        server.translate("x", beam_size=99)
        server.get("/nope")
        with server.connect() as gone:
            gone.sendall(http_post("/v1/translate", dict(text=long_text(200), source="es", target="en")))
        server.until(lambda: value(read(server)[0], "dragoman_requests_total", dialect="v1", outcome="cancelled") == 1)
        # A request counts until the HTTP library releases it, a moment after the answer; the 1 is this request.
        server.until(lambda: value(read(server)[0], "dragoman_http_requests_in_flight") == 1)
        after, _ = read(server)

        def more(name, **labels):
            return value(after, name, **labels) - value(before, name, **labels)

        assert more("dragoman_requests_total", dialect="v1", outcome="ok") == 1
        assert more("dragoman_requests_total", dialect="v1", outcome="invalid") == 1
        assert more("dragoman_sentences_total", pair="en-de") == 3
        assert more("dragoman_characters_total", pair="en-de") == usage["source_characters"] == 36
        assert more("dragoman_source_tokens_total") == usage["source_tokens"]
        assert more("dragoman_target_tokens_total") == usage["target_tokens"]
        assert more("dragoman_decode_steps_total") >= 2
        assert more("dragoman_http_requests_total", route="/v1/translate", method="POST", code="200") == 1
        assert more("dragoman_http_requests_total", route="/v1/translate", method="POST", code="400") == 1
        assert more("dragoman_http_requests_total", route="other", method="other", code="404") == 1
        by_model = dict(model="en-de", **{"class": "interactive"})
        assert more("dragoman_queue_wait_seconds_count", **by_model) >= 3
        assert more("dragoman_queue_wait_seconds_count", model="en-de", **{"class": "bulk"}) == 0
        assert more("dragoman_step_seconds_count", model="en-de") >= 2
        assert abs(value(after, "dragoman_last_success_timestamp_seconds") - time.time()) < 100
        assert value(after, "dragoman_queue_depth") == value(after, "dragoman_queue_tokens") == 0
        assert value(after, "dragoman_cache_blocks", state="used") == 0
        assert value(after, "dragoman_cache_blocks", state="total") > 0
        assert abs(value(after, "process_start_time_seconds") - time.time()) < 600
        assert value(after, "process_resident_memory_bytes") > 1e6
        assert 5 < value(after, "process_open_fds") < 100
        names = {dict(labels)["model"] for (name, labels) in after if name == "dragoman_model_info"}
        assert names == {"en-de", "de-fr", "es-en"}


def test_each_status_has_its_own_label():
    """Those of openapi.yaml, 405, and those that the HTTP library answers with by itself (SECURITY.md)."""
    with open(os.path.join(ROOT, "server", "metrics.c"), encoding="utf-8") as f:
        named = re.search(r"int statuses\[\] = \{([^}]*)\}", f.read())[1]
    with open(os.path.join(ROOT, "openapi.yaml"), encoding="utf-8") as f:
        documented = {code for path in yaml.safe_load(f)["paths"].values() for method in path.values() if isinstance(method, dict)
                      for code in method.get("responses", {})}
    assert {int(n) for n in named.split(",")} == {int(code) for code in documented} | {405, 414, 431} | {0}  # 0: others


def test_the_build_says_what_it_is(server):
    values, _ = read(server)
    labels, = [dict(labels) for name, labels in values if name == "dragoman_build_info"]
    git = subprocess.run(["git", "-C", ROOT, "rev-parse", "HEAD"], capture_output=True, text=True, timeout=60)
    assert re.fullmatch(r"[0-9a-f]{12,}|unknown", labels["revision"])
    assert git.returncode != 0 or labels["revision"] != "unknown"
    device, = {dict(labels)["device"] for name, labels in values if name == "dragoman_model_info"}
    assert device == "cpu/" + labels["isa"]


def test_the_instructions_that_are_asked_for_show(models):
    with Server(models, env={"DRAGOMAN_ISA": "generic"}) as server:
        assert 'isa="generic"' in server.get("/metrics").text


def test_a_reload_shows_while_it_runs(models, tmp_path):
    shutil.copytree(models, tmp_path / "m")
    with Server(str(tmp_path / "m")) as server:
        assert value(read(server)[0], "dragoman_model_reload_in_progress") == 0
        with bundle.loading(os.path.join(models, "en-de"), str(tmp_path / "m" / "again")):
            server.process.send_signal(signal.SIGHUP)
            server.until(lambda: value(read(server)[0], "dragoman_model_reload_in_progress") == 1)
        server.until(lambda: value(read(server)[0], "dragoman_model_reload_in_progress") == 0)
        assert value(read(server)[0], "dragoman_model_reloads_total", outcome="ok") == 1


def queued(values):
    return sum(v for (name, _), v in values.items() if name == "dragoman_queue_sentences")


def test_the_queue_is_shown_at_one_moment(models):
    """Its gauges were read one after another: while it moved, those of the models did not add up to the whole."""
    texts = [" ".join(f"w{i} x{i}. Y{j} z{i}." for i in range(20)) for j in range(100)]
    with Server(models, *NARROW) as server, ThreadPoolExecutor(3) as pool:
        replies = [pool.submit(server.translate, [f"{k} {t}" for t in texts]) for k in range(3)]
        moved = set()
        while not all(r.done() for r in replies):
            values, _ = read(server)
            assert queued(values) == value(values, "dragoman_queue_depth")
            moved.add(queued(values))
        assert len(moved) > 10
        assert {r.result().status_code for r in replies} == {200}


def test_queue_and_timeouts_show(endless, busy):
    text = busy(60)
    with Server(endless, *NARROW) as server:
        with server.connect() as s:
            s.sendall(http_post("/v1/translate", dict(text=text, source="en", target="de")))
            server.until(lambda: value(read(server)[0], "dragoman_queue_depth") > 0)
            values, _ = read(server)
            assert value(values, "dragoman_queue_tokens") >= value(values, "dragoman_queue_depth")
            assert queued(values) == value(values, "dragoman_queue_depth") == \
                value(values, "dragoman_queue_sentences", model=os.path.basename(endless), **{"class": "interactive"})
            server.until(lambda: value(read(server)[0], "dragoman_cache_blocks", state="used") > 0)
        server.until(lambda: value(read(server)[0], "dragoman_queue_depth") == 0)
        assert server.translate(text, timeout_ms=100).status_code == 504
        # Counted when the reply has gone out: the client may have it a moment earlier.
        server.until(lambda: value(read(server)[0], "dragoman_requests_total", dialect="v1", outcome="timeout") == 1)


def test_no_gauge_is_left_out(server):
    """The page once had room for 40 gauges only; those of the process come last."""
    values, types = read(server)
    assert len([name for name, _ in values if types.get(name) == "gauge"]) > 40
    assert {"process_start_time_seconds", "process_open_fds", "process_max_fds", "process_resident_memory_bytes"} <= set(types)


def test_names_of_any_length_are_labels(tmp_path):
    """A manifest may name a bundle with 255 bytes, or with bytes that all need an escape: the page parses, and no name is cut."""
    names = {"long": "n" * 255, "odd": '"' * 100, "middle": "m" * 145}
    for i, (folder, name) in enumerate(names.items()):
        path = bundle.make(CLI, str(tmp_path / "models" / folder), ["en", "de", "fr"][i], ["de", "fr", "en"][i], seed=i)
        bundle.edit(CLI, path, lambda manifest: manifest.update(name=name))
    with Server(str(tmp_path / "models")) as server:
        values, _ = read(server)
        shown = {dict(labels)["model"].replace('\\"', '"') for name, labels in values if name == "dragoman_model_info"}
        assert shown == set(names.values())


def test_bundles_of_one_name_have_series_of_their_own(models, tmp_path):
    """A quantized bundle has its original's name, and a copy also its version; read() finds no series twice."""
    folder = tmp_path / "models"
    for name in ("a", "copy"):
        shutil.copytree(os.path.join(models, "en-de"), folder / name)
    subprocess.run([CLI, "quantize", str(folder / "a"), "--out", str(folder / "b")], check=True, capture_output=True)
    with Server(str(folder)) as server:
        values, _ = read(server)
        served = {(m["name"], m["version"]) for m in server.get("/v1/models").json()["models"]}
        assert len(served) == 2 and {name for name, _ in served} == {"en-de"}
        for name in ("dragoman_model_info", "dragoman_model_tokens_per_second", "dragoman_step_rows", "dragoman_model_load_seconds"):
            shown = [dict(labels) for metric, labels in values if metric == name]
            assert sorted((labels["model"], labels["version"]) for labels in shown) == sorted(served), name
