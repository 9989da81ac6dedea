"""POST /suggest as LibreTranslate has it: better translations that people send, kept in a file."""
import concurrent.futures
import contextlib
import sqlite3

import pytest
import requests

from conftest import PATIENCE, Server, run_server

GOOD = {"q": "Two dogs play.", "s": "Zwei Hunde spielen.", "source": "en", "target": "de"}


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    return str(tmp_path_factory.mktemp("suggestions") / "suggestions.db")


@pytest.fixture(scope="module")
def server(models, path):
    with Server(models, "--suggestions", path) as s:
        yield s


def kept(path):
    db = sqlite3.connect("file:%s?mode=ro" % path, uri=True)
    try:
        return db.execute("SELECT source, target, text, translation FROM suggestions ORDER BY number").fetchall()
    finally:
        db.close()


def test_it_is_kept_once(server, path):
    for _ in range(2):
        reply = server.post("/suggest", GOOD)
        assert reply.status_code == 200 and reply.json() == {"success": True}
    form = dict(GOOD, s="Zwei Hunde & eine Katze: 50 %.\nJa.")
    assert requests.post(server.url("/suggest"), data=form, timeout=PATIENCE).json() == {"success": True}
    assert requests.post(server.url("/suggest"), params=dict(GOOD, s="Im Schnee"), timeout=PATIENCE).json() == {"success": True}
    assert kept(path) == [("en", "de", GOOD["q"], GOOD["s"]), ("en", "de", GOOD["q"], form["s"]), ("en", "de", GOOD["q"], "Im Schnee")]
    assert server.get("/frontend/settings").json()["suggestions"] is True


@pytest.mark.parametrize("fields, message", [
    ({"q": None}, "Invalid request: missing q parameter"), ({"s": ""}, "Invalid request: missing s parameter"),
    ({"source": None}, "Invalid request: missing source parameter"), ({"target": ""}, "Invalid request: missing target parameter"),
    ({"source": "zz"}, "zz is not supported"), ({"target": "xx"}, "xx is not supported"), ({"q": 5}, "q"), ({"s": ["a"]}, "s must be a string"),
    ({"s": "x" * 200001}, "Invalid request: request (200001) exceeds text limit (200000)"), ({"q": "a\0b"}, "q")])
def test_what_is_wrong(server, path, fields, message):
    before = kept(path)
    reply = server.post("/suggest", {k: v for k, v in dict(GOOD, **fields).items() if v is not None})
    assert reply.status_code == 400 and message in reply.json()["error"]
    assert kept(path) == before


def test_other_methods_and_no_option(server, models):
    assert server.get("/suggest").status_code == 405
    with Server(models) as off:
        reply = off.post("/suggest", GOOD)
        assert reply.status_code == 403 and reply.json() == {"error": "Suggestions are disabled on this server."}
        assert off.get("/frontend/settings").json()["suggestions"] is False


def test_it_outlives_the_server(models, tmp_path):
    path = str(tmp_path / "s.db")
    for n in (1, 2):
        with Server(models, "--suggestions", path) as s:
            assert s.post("/suggest", dict(GOOD, s="%d" % n)).status_code == 200
        assert len(kept(path)) == n


def test_a_locked_file_holds_up_nobody(models, tmp_path):
    """Another program keeps the file locked: its requests wait, those of others do not."""
    path = str(tmp_path / "s.db")
    with Server(models, "--suggestions", path, "--http-threads", "1") as s, concurrent.futures.ThreadPoolExecutor(3) as pool:
        with contextlib.closing(sqlite3.connect(path, isolation_level=None)) as db:
            db.execute("BEGIN IMMEDIATE")
            waiting = [pool.submit(s.post, "/suggest", dict(GOOD, s="%d" % i)) for i in range(3)]
            s.until(lambda: s.in_flight() == 3)
            assert s.get("/livez").status_code == 200 and s.translate("Hello.").status_code == 200
            assert not any(w.done() for w in waiting)
        assert {w.result().status_code for w in waiting} <= {200, 503}  # 503 after two seconds
        assert s.post("/suggest", GOOD).status_code == 200
        assert len(kept(path)) == 1 + sum(w.result().status_code == 200 for w in waiting)


def test_many_at_once_are_kept(models, tmp_path):
    """They have nothing to do with attention weights, few of which may be computed at once."""
    path = str(tmp_path / "s.db")
    with Server(models, "--suggestions", path) as s, concurrent.futures.ThreadPoolExecutor(60) as pool:
        with contextlib.closing(sqlite3.connect(path, isolation_level=None)) as db:
            db.execute("BEGIN IMMEDIATE")
            waiting = [pool.submit(s.post, "/suggest", dict(GOOD, s="%d" % i)) for i in range(60)]
            s.until(lambda: s.in_flight() + sum(w.done() for w in waiting) >= 60)
            attention = s.post("/v1/attention", {"text": "Hello.", "source": "en", "target": "de"})
            assert attention.status_code == 200, attention.text
            db.execute("ROLLBACK")
        replies = [w.result() for w in waiting]
        assert all(r.status_code == 200 or "locked" in r.text for r in replies)  # each in turn waits for two seconds
        assert len(kept(path)) == [r.status_code for r in replies].count(200) > 0


def test_a_file_of_something_else(models, tmp_path):
    (tmp_path / "x").write_text("hello")
    done = run_server("--models", models, "--suggestions", str(tmp_path / "x"))
    assert done.returncode != 0 and str(tmp_path / "x") in done.stderr
