"""API keys: who may ask, how fast, how much; made and revoked while the server runs; counted over restarts."""
import json
import os
import re
import signal
import sqlite3
import subprocess
import time

import pytest
import requests

from conftest import CLI, NARROW, PATIENCE, SERVER, Server, http_post, long_text
from test_stream import read_events

GOOD = {"text": "Hello.", "source": "en", "target": "de"}


def keys(path, *arguments, status=0):
    done = subprocess.run([CLI, "keys", *arguments], capture_output=True, text=True, timeout=PATIENCE,
                          env={**os.environ, "DRAGOMAN_KEYS": str(path)})
    assert done.returncode == status, done.stderr
    return done.stdout if status == 0 else done.stderr


def add(path, *arguments):
    """Adds a key. Returns what the command prints about it, with the key itself."""
    return json.loads(keys(path, "add", "--name", "test", "--json", *arguments))


def new_key(path, *arguments):
    """Adds a key. Returns what clients send."""
    return add(path, *arguments)["key"]


@pytest.fixture
def path(tmp_path):
    return tmp_path / "keys.db"


def serve(models, path, *flags):
    return Server(models, "--keys", str(path), *flags)


def bearer(key):
    return {"Authorization": "Bearer " + key["key"]}


def ask(server, key=None, body=None, **headers):
    return requests.post(server.url("/v1/translate"), json=body or GOOD, timeout=PATIENCE,
                         headers={**(bearer(key) if key else {}), **headers})


def used(path, key):
    days = json.loads(keys(path, "usage", key["id"], "--json"))
    return sum(d["requests"] for d in days), sum(d["characters"] for d in days)


def test_who_may_do_what(models, path):
    translate, admin = add(path), add(path, "--scope", "admin")
    both = add(path, "--scope", "translate,admin")
    with serve(models, path) as server:
        for reply in (ask(server), ask(server, dict(key="dg_nobody")), ask(server, dict(key=""))):
            assert reply.status_code == 401 and reply.json()["error"]["code"] == "unauthorized"
            assert reply.headers["WWW-Authenticate"].startswith("Bearer")
        assert ask(server, translate).status_code == ask(server, both).status_code == 200
        assert requests.get(server.url("/v1/models"), headers={"X-API-Key": translate["key"]}).status_code == 200
        assert ask(server, None, **{"X-API-Key": translate["key"]}).status_code == 200
        # Credentials for a proxy are no key of ours: the other header counts.
        assert ask(server, None, **{"Authorization": "Basic eDp5", "X-API-Key": translate["key"]}).status_code == 200
        assert ask(server, None, Authorization="bearer " + translate["key"]).status_code == 200
        reply = ask(server, admin)
        assert reply.status_code == 403 and "scope translate" in reply.json()["error"]["message"]
        for open_path in ("/", "/livez", "/readyz", "/metrics", "/openapi.yaml"):
            assert server.get(open_path).status_code == 200, open_path
        assert server.get("/v1/models").status_code == 401
        assert server.get("/nothing").status_code == 404 and server.get("/v1/translate").status_code == 405
        text = server.get("/metrics").text
        assert "dragoman_keys 3\n" in text and 'dragoman_requests_total{dialect="v1",outcome="refused"} 4\n' in text
        for reason, n in (("missing", 3), ("unknown", 1), ("scope", 1), ("rate", 0), ("quota", 0)):
            assert 'dragoman_key_refusals_total{reason="%s"} %d\n' % (reason, n) in text


def test_the_server_is_looked_at_by_admins(models, path):
    """The figures of /status need an admin key if there are keys; otherwise anybody may read them."""
    translate, admin = add(path), add(path, "--scope", "admin")
    with serve(models, path) as server:
        assert server.get("/v1/status").status_code == 401
        assert server.get("/v1/status", headers=bearer(translate)).status_code == 403
        reply = server.get("/v1/status", headers=bearer(admin))
        assert reply.status_code == 200 and reply.headers["Cache-Control"] == "no-store"
        samples = reply.json()["samples"]
        assert samples["dragoman_keys"] == 2 and samples['dragoman_key_refusals_total{reason="scope"}'] == 1
        # The same series as at /metrics, except those that count this answer itself.
        lines = {line.rsplit(" ", 1)[0] for line in server.get("/metrics").text.splitlines() if line[:1] != "#"}
        assert set(samples) <= lines and len(samples) > 100
        assert all('"/v1/status"' in line for line in lines - set(samples))
        assert server.get("/status").status_code == 200
    with Server(models) as server:
        assert server.get("/v1/status").json()["samples"]["dragoman_ready"] == 1


def test_probes_alone_may_be_open(models, path):
    key = add(path)
    with serve(models, path, "--keys-open", "probes") as server:
        assert server.get("/livez").status_code == server.get("/readyz").status_code == 200
        for closed in ("/", "/metrics", "/openapi.yaml", "/v1/models"):
            assert server.get(closed).status_code == 401, closed
            assert server.get(closed, headers=bearer(key)).status_code == 200, closed


def test_changes_reach_a_running_server_within_seconds(models, path):
    first = add(path)
    with serve(models, path) as server:
        assert ask(server, first).status_code == 200
        second = add(path)
        server.until(lambda: ask(server, second).status_code == 200)
        keys(path, "revoke", first["id"])
        server.until(lambda: ask(server, first).status_code == 401)
        assert ask(server, second).status_code == 200


def test_the_rate_is_held(models, path):
    slow, fast = add(path, "--requests-per-minute", "3"), add(path)
    with serve(models, path) as server:
        assert [ask(server, slow).status_code for _ in range(4)] == [200, 200, 200, 429]
        reply = ask(server, slow)
        assert reply.json()["error"]["code"] == "rate_limited" and 1 <= int(reply.headers["Retry-After"]) <= 20
        assert ask(server, fast).status_code == 200
    assert used(path, slow) == (3, 3 * len(GOOD["text"]))  # what was refused is not counted


def test_the_days_characters_are_held_also_over_a_restart(models, path):
    key = add(path, "--characters-per-day", "20")
    text = dict(GOOD, text=["Grüße.", "你好."])  # 9 code points
    for expected in ([200], [200, 429]):
        with serve(models, path) as server:
            replies = [ask(server, key, text) for _ in expected]
            assert [r.status_code for r in replies] == expected
    assert replies[-1].json()["error"]["code"] == "quota_exceeded"
    assert 1 <= int(replies[-1].headers["Retry-After"]) <= 86400
    assert used(path, key)[1] == 18
    with serve(models, path) as server:
        assert ask(server, key, dict(GOOD, text="ab")).status_code == 200  # exactly what is left
        assert ask(server, key, dict(GOOD, text="a")).status_code == 429
        score = dict(text="a", translation="b", source="en", target="de")
        assert server.post("/v1/score", score, headers=bearer(key)).status_code == 429


def test_only_what_could_be_translated_costs(models, path):
    key = add(path)
    with serve(models, path, "--max-characters", "100") as server:
        assert ask(server, key, dict(GOOD, text="x" * 101)).status_code == 413
        assert ask(server, key, dict(GOOD, beam=1)).status_code == 400
        assert ask(server, key, dict(GOOD, target="zz")).status_code == 400
        assert ask(server, key, dict(GOOD, n_best=5, beam_size=2)).status_code == 400
        other = lambda route, body: server.post(route, body, headers=bearer(key)).status_code
        assert other("/v1/score", dict(text="a", translation="b", source="en", target="zz")) == 400
        assert other("/v1/alternatives", dict(GOOD, target_prefix="", target="zz")) == 400
        assert other("/v1/attention", dict(text="a", source="en", target="zz")) == 400
        assert ask(server, key, dict(GOOD, text="Hello.", timeout_ms=1)).status_code in (200, 504)
    requests_made, characters = used(path, key)
    assert requests_made == 8 and characters in (0, 6)  # the characters of a 504 are given back


def paid_for(sentences):
    """Returns the number of characters that events "sentence" answer, each counted once."""
    return len({(s["text_index"], at) for s in sentences for at in range(*s["source"])})


def test_a_stream_that_fails_costs_what_it_brought(endless, busy, path):
    key = add(path)
    with serve(endless, path, *NARROW) as server:
        def fail(text, timeout_ms):
            reply = ask(server, key, dict(GOOD, text=text, stream=True, timeout_ms=timeout_ms))
            *sentences, (name, error) = read_events(reply.content.decode())
            assert reply.status_code == 200 and (name, error["code"]) == ("error", "timeout")
            return paid_for([data for _, data in sentences])
        # The deadline passes before the first event: no stream.
        reply = ask(server, key, dict(GOOD, text=long_text(2000), stream=True, timeout_ms=1))
        # A slow machine refuses work that it has measured to be too much.
        assert (reply.status_code, reply.json()["error"]["code"]) in ((504, "timeout"), (503, "overloaded"))
        pace = 20 / busy(20).count("Number")  # seconds a sentence
        texts = ["12:30", "Grüße. " + long_text(50 + round(60 / pace))]
        brought = fail(texts, round(1000 * max(4, 10 * pace)))
        assert 0 < brought < len(texts[1])
    requests_used, characters = used(path, key)
    assert characters == brought and requests_used in ((2,) if reply.status_code == 504 else (1, 2))


@pytest.mark.parametrize("accept", ["application/json", "application/x-ndjson"])
def test_a_batch_costs_the_items_that_were_translated(models, path, accept):
    key = add(path, "--characters-per-day", "50")
    items = [dict(GOOD), dict(GOOD, text="Grüße.", target="zz"), dict(GOOD, text="12:30"), dict(GOOD, text="x", beam=1),
             dict(GOOD, text="One. Two. Three."), dict(GOOD, text="Go on.", n_best=5, beam_size=2)]
    with serve(models, path, "--max-sentences", "2") as server:
        post = lambda: server.post("/v1/batch", {"items": items}, headers=dict(bearer(key), Accept=accept))
        reply = post()
        assert reply.status_code == 200 and reply.text.count('"error"') == 4
        server.until(lambda: post().status_code == 200)  # charged soon after the reply: 11 used and 39 well-formed are 50
        assert post().status_code == 429  # items that will fail have to fit as well
    assert used(path, key)[1] == 2 * len("Hello." "12:30")


@pytest.mark.parametrize("accept", ["application/json", "application/x-ndjson"])
def test_a_batch_that_is_cut_short(endless, busy, path, accept):
    """If the deadline passes, only finished items are charged; a client that leaves pays for all."""
    late, left = add(path), add(path)
    body = dict(items=[dict(GOOD, text="12:30"), dict(GOOD, text=busy(60))])
    with serve(endless, path, *NARROW) as server:
        reply = server.post("/v1/batch", dict(body, timeout_ms=500), headers=dict(bearer(late), Accept=accept))
        assert reply.status_code == 200 and reply.text.count('"timeout"') == 1
        with server.connect() as s:
            s.sendall(http_post("/v1/batch", body, "Authorization: Bearer " + left["key"], "Accept: " + accept))
            server.until(lambda: server.metric("dragoman_live_sentences") > 0)
        server.until(lambda: server.logged(r"route=/v1/batch status=499"))
    assert used(path, late) == (1, 5)
    assert used(path, left) == (1, 5 + len(body["items"][1]["text"]))


def test_a_score_costs_both_texts(models, path):
    key = add(path, "--characters-per-day", "10")
    score = dict(text=["abc", "d"], translation=["e", "f"], source="en", target="de")
    with serve(models, path) as server:
        replies = [server.post("/v1/score", score, headers=bearer(key)) for _ in range(2)]
        assert [r.status_code for r in replies] == [200, 429]
        assert replies[1].json()["error"]["code"] == "quota_exceeded"
    assert used(path, key) == (2, 6)


def test_usage_is_written_while_the_server_runs(models, path):
    key = add(path)
    with serve(models, path) as server:
        for _ in range(5):
            assert ask(server, key).status_code == 200
        server.until(lambda: used(path, key) == (5, 5 * 6))
        assert ask(server, key).status_code == 200
        server.stop(signal.SIGTERM)  # a stop writes the rest at once
        assert used(path, key) == (6, 6 * 6)


def test_two_servers_share_a_day(models, path):
    key = add(path, "--characters-per-day", "10")
    with serve(models, path) as a, serve(models, path) as b:
        assert ask(a, key).status_code == 200
        a.until(lambda: ask(b, key, dict(GOOD, text="12345")).status_code == 429)


def test_keys_are_neither_stored_nor_logged(models, path):
    key = add(path)
    with serve(models, path, "--log-level", "debug") as server:
        assert ask(server, key).status_code == 200
        assert ask(server, dict(key="dg_wrong-one")).status_code == 401
    log = "".join(server.log)
    assert key["key"] not in log and "dg_" not in log and "key=%s" % key["id"] in log
    for name in os.listdir(path.parent):
        assert key["key"].encode() not in (path.parent / name).read_bytes()
    listed = json.loads(keys(path, "list", "--json"))
    assert [k["id"] for k in listed] == [key["id"]] and "key" not in listed[0]


def test_a_file_that_is_locked_stops_no_request(models, path):
    """Usage that cannot be written now is written later. The log says so once, and nothing of a recovery before."""
    key = add(path)
    with serve(models, path) as server:
        holder = sqlite3.connect(path, isolation_level=None)
        holder.execute("BEGIN IMMEDIATE")
        asked = 0
        while not server.logged('event="keys" store=failed'):
            assert ask(server, key).status_code == 200
            asked += 1
            time.sleep(0.1)
        server.until(lambda: server.metric("dragoman_key_store_errors_total") >= 2)
        assert sum("store=failed" in line for line in server.log) == 1 and not server.logged("store=recovered")
        holder.execute("ROLLBACK")
        holder.close()
        server.until(lambda: used(path, key)[0] == asked)
        server.until(lambda: server.logged('event="keys" store=recovered'))


def test_a_file_put_in_anothers_place_is_read(models, path, tmp_path):
    """Editors, copies and configuration managers rename files into place: the new keys count, the old ones no longer."""
    old, new = add(path), add(tmp_path / "next.db")
    with serve(models, path) as server:
        assert ask(server, old).status_code == 200 and ask(server, new).status_code == 401
        os.rename(tmp_path / "next.db", path)
        server.until(lambda: ask(server, new).status_code == 200)
        server.until(lambda: ask(server, old).status_code == 401)
        server.until(lambda: used(path, new)[0] >= 1)
        # A file that holds no keys changes nothing and is reported; a good one after it is read again.
        newest = add(tmp_path / "newest.db")
        (tmp_path / "text").write_text("hello " * 1000)
        os.rename(tmp_path / "text", path)
        server.until(lambda: server.logged('event="keys" store=failed'))
        assert ask(server, new).status_code == 200
        os.rename(tmp_path / "newest.db", path)
        server.until(lambda: ask(server, newest).status_code == 200)
        server.until(lambda: ask(server, new).status_code == 401)
        os.remove(path)
        server.until(lambda: sum('store=failed' in line for line in server.log) == 2)
        assert ask(server, newest).status_code == 200


def test_a_wrong_file_at_the_end_loses_nothing(models, path, tmp_path):
    """Only usage that is not written is said to be lost."""
    add(path)
    with serve(models, path) as server:
        (tmp_path / "text").write_text("hello " * 1000)
        os.rename(tmp_path / "text", path)
        server.until(lambda: server.logged('event="keys" store=failed'))
    assert not server.logged("lost=usage"), server.log


def make_first_version(path, mode):
    """Makes an empty file as the first version did: without expires_s."""
    file = sqlite3.connect(path, isolation_level=None)
    file.executescript(f"""PRAGMA journal_mode = {mode};
        CREATE TABLE keys(id TEXT PRIMARY KEY, name TEXT NOT NULL, hash BLOB NOT NULL UNIQUE, scopes INTEGER NOT NULL,
            created_s INTEGER NOT NULL, revoked_s INTEGER NOT NULL DEFAULT 0, requests_per_minute INTEGER NOT NULL DEFAULT 0,
            characters_per_day INTEGER NOT NULL DEFAULT 0);
        CREATE TABLE usage(id TEXT NOT NULL REFERENCES keys(id), day INTEGER NOT NULL, requests INTEGER NOT NULL,
            characters INTEGER NOT NULL, PRIMARY KEY(id, day)) WITHOUT ROWID;
        PRAGMA application_id = 1145523019; PRAGMA user_version = 1;""")
    file.close()


@pytest.mark.parametrize("mode", ["delete", "wal"])
def test_a_check_leaves_an_older_file_as_it_is(models, path, mode):
    """--check-config comes before the copy that an upgrade is undone with: the older program must still read the file."""
    make_first_version(path, mode)
    before = path.read_bytes()
    done = subprocess.run([SERVER, "--models", models, "--keys", path, "--check-config"], capture_output=True, text=True, timeout=PATIENCE)
    assert done.returncode == 0, done.stderr
    assert path.read_bytes() == before
    keys(path, "list")  # the program itself upgrades it
    assert path.read_bytes() != before


def test_a_file_that_is_none_stops_the_start(models, tmp_path):
    (tmp_path / "text").write_text("hello " * 1000)
    for name, words in (("nothing", "there is no"), ("text", "not a database")):
        done = subprocess.run([SERVER, "--models", models, "--port", "0", "--keys", str(tmp_path / name)],
                              capture_output=True, text=True, timeout=PATIENCE)
        assert done.returncode == 1 and words in done.stderr and str(tmp_path / name) in done.stderr
        checked = subprocess.run([SERVER, "--models", models, "--keys", str(tmp_path / name), "--check-config"],
                                 capture_output=True, text=True, timeout=PATIENCE)
        assert checked.returncode == 1 and done.stderr.endswith(checked.stderr) and words in checked.stderr


def test_the_command_line(path):
    assert "there is no" in keys(path, "list", status=1) and not path.exists()
    shown = keys(path, "add", "--name", "Büro 1", "--requests-per-minute", "60", "--characters-per-day", "5000")
    assert shown.startswith("dg_") and len(shown) == 47
    assert os.stat(path).st_mode & 0o777 == 0o600
    (row,) = json.loads(keys(path, "list", "--json"))
    assert (row["name"], row["scope"], row["requests_per_minute"], row["characters_per_day"]) == \
        ("Büro 1", "translate", 60, 5000)
    table = keys(path, "list").splitlines()
    assert len(table) == 2 and table[1].split()[0] == row["id"] and table[1].endswith("Büro 1")
    keys(path, "revoke", row["id"])
    assert json.loads(keys(path, "list", "--json"))[0]["revoked"] > 0
    assert keys(path, "usage").split() == ["id", "day", "requests", "characters"]
    assert "no key" in keys(path, "revoke", "nobody", status=1)
    for wrong in (["add"], ["add", "--name", ""], ["add", "--name", "a\nb"], ["add", "--name", "x" * 64],
                  ["add", "--name", "x", "--scope", "root"], ["revoke"], ["list", "extra"], ["nothing"], [],
                  ["usage", "--days", "0"], ["add", "--name", "x", "--requests-per-minute", "-1"]):
        keys(path, *wrong, status=2)
    done = subprocess.run([CLI, "keys", "list"], capture_output=True, text=True,
                          env={k: v for k, v in os.environ.items() if k != "DRAGOMAN_KEYS"})
    assert done.returncode == 2 and "DRAGOMAN_KEYS" in done.stderr


def test_whose_key_was_refused_is_logged(models, path):
    key = add(path, "--requests-per-minute", "1")
    with serve(models, path) as server:
        assert ask(server).status_code == ask(server, dict(key="dg_nobody")).status_code == 401
        server.until(lambda: ask(server, key).status_code == 429)
        assert requests.post(server.url("/v1/models/reload"), headers=bearer(key), timeout=PATIENCE).status_code == 403
        server.until(lambda: server.logged(r"route=/v1/translate status=401 .* key=-$"))
        server.until(lambda: server.logged(r"route=/v1/translate status=401 .* key=unknown$"))
        server.until(lambda: server.logged(r"route=/v1/translate status=429 .* key=%s$" % key["id"]))
        server.until(lambda: server.logged(r"route=/v1/models/reload status=403 .* key=%s$" % key["id"]))


# Keys that expire, and that are changed -----------------------------------------------------------------------------

def stored(path, key, column):
    with sqlite3.connect(path) as db:
        return db.execute("SELECT %s FROM keys WHERE id = ?" % column, (key["id"],)).fetchone()[0]


def test_a_key_expires_while_the_server_runs(models, path):
    key, other = add(path, "--expires", "12h"), add(path)
    assert abs(stored(path, key, "expires_s") - time.time() - 12 * 3600) < PATIENCE
    with serve(models, path) as server:
        assert ask(server, key).status_code == 200
        soon = int(time.time()) + 2
        with sqlite3.connect(path) as db:  # the command refuses a time that has passed on a slow machine
            db.execute("UPDATE keys SET expires_s = ? WHERE id = ?", (soon, key["id"]))
        server.until(lambda: ask(server, key).status_code == 401)
        reply = ask(server, key)
        assert reply.json()["error"] == {"code": "unauthorized", "message": time.strftime(
            "the API key has expired on %Y-%m-%d at %H:%M:%S UTC", time.gmtime(soon))}
        assert reply.headers["WWW-Authenticate"].startswith("Bearer") and ask(server, other).status_code == 200
        server.until(lambda: server.logged(r"status=401 .* key=%s$" % key["id"]))
        assert 'dragoman_key_refusals_total{reason="expired"}' in server.get("/metrics").text
        # Other APIs have their own words for it.
        google = requests.post(server.url("/language/translate/v2"), params={"key": key["key"]}, timeout=PATIENCE,
                               json={"q": "Hello.", "target": "de", "source": "en"})
        assert google.status_code == 400 and google.json()["error"]["errors"][0]["reason"] == "keyExpired"
        libre = server.post("/translate", {"q": "Hello.", "source": "en", "target": "de", "api_key": key["key"]})
        assert libre.status_code == 403 and "expired" in libre.json()["error"]
        keys(path, "set", key["id"], "--expires", "never")
        server.until(lambda: ask(server, key).status_code == 200)


def test_limits_are_changed_while_the_server_runs(models, path):
    key = add(path, "--requests-per-minute", "1")
    with serve(models, path) as server:
        assert [ask(server, key).status_code for _ in range(2)] == [200, 429]
        keys(path, "set", key["id"], "--requests-per-minute", "0", "--characters-per-day", "20", "--name", "other")
        server.until(lambda: ask(server, key, dict(GOOD, text="a")).status_code == 200)
        assert ask(server, key, dict(GOOD, text="x" * 20)).status_code == 429
        keys(path, "set", key["id"], "--scope", "admin")
        server.until(lambda: ask(server, key).status_code == 403)
    (row,) = json.loads(keys(path, "list", "--json"))
    assert (row["name"], row["scope"], row["requests_per_minute"], row["characters_per_day"]) == ("other", "admin", 0, 20)
    assert used(path, key)[1] >= 7  # its usage stays


def test_times_to_expire(path):
    key = add(path, "--expires", "2999-01-31")
    assert stored(path, key, "expires_s") == 32474822400  # 2999-02-01T00:00:00Z, the end of its last day
    assert keys(path, "list").splitlines()[1].split()[5] == "2999-02-01"
    keys(path, "set", key["id"], "--expires", "2999-01-31T12:00:01Z")
    assert stored(path, key, "expires_s") == 32474822400 - 43199
    for wrong in ("2020-01-01", "2999-02-30", "2999-1-1", "tomorrow", "", "0d", "-1d", "30", "30dd", "99999999999999999999d",
                  "2999-01-31T12:00:01", "2999-01-31 "):
        assert "--expires" in keys(path, "set", key["id"], "--expires", wrong, status=2) or wrong == ""
    assert "changes nothing" in keys(path, "set", key["id"], status=2)
    assert "no key" in keys(path, "set", "nobody", "--expires", "never", status=1)
    keys(path, "set", status=2)


def test_a_file_of_the_first_version_is_brought_up_to_date(models, path):
    """Makes a file as the first version did: without expires_s, user_version 1."""
    key = add(path, "--requests-per-minute", "60")
    with sqlite3.connect(path) as db:
        db.execute("ALTER TABLE keys DROP COLUMN expires_s")
        db.execute("PRAGMA user_version = 1")
    with serve(models, path) as server:
        assert ask(server, key).status_code == 200
    assert stored(path, key, "expires_s") == 0 and used(path, key)[0] == 1
    with sqlite3.connect(path) as db:
        assert db.execute("PRAGMA user_version").fetchone() == (2,)


def left(reply):
    """Returns the headers RateLimit-Policy and RateLimit as {name: (q, w, r, t)}."""
    pattern = r'"(\w+)";%s=(\d+);%s=(\d+)'
    policy = re.findall(pattern % ("q", "w"), reply.headers["RateLimit-Policy"])
    state = re.findall(pattern % ("r", "t"), reply.headers["RateLimit"])
    assert [p[0] for p in policy] == [s[0] for s in state]
    return {p[0]: tuple(map(int, p[1:] + s[1:])) for p, s in zip(policy, state)}


def test_what_is_left_is_said(models, path):
    key = add(path, "--requests-per-minute", "3", "--characters-per-day", "20")
    free, rated = add(path), add(path, "--requests-per-minute", "600")
    with serve(models, path) as server:
        reply = ask(server, key)
        said = left(reply)
        assert said["requests"][:3] == (3, 60, 2) and said["requests"][3] in (19, 20)
        assert said["characters"][:3] == (20, 86400, 14) and 0 < said["characters"][3] <= 86400
        assert left(ask(server, key, dict(GOOD, text="x" * 15)))["characters"][2] == 14  # 429, day's limit: nothing charged
        assert left(ask(server, key))["characters"][2] == 8
        reply = ask(server, key)
        assert reply.status_code == 429 and left(reply)["requests"][2] == 0
        assert int(reply.headers["Retry-After"]) <= left(reply)["requests"][3]
        # Three requests were allowed at once; the fourth waits for a third of a minute.
        assert list(left(ask(server, rated))) == ["requests"]
        for nobody in (ask(server, free), ask(server), server.get("/livez")):
            assert "RateLimit" not in nobody.headers and "RateLimit-Policy" not in nobody.headers


def test_what_an_address_has_left_is_said(models):
    session = requests.Session()

    class From(requests.adapters.HTTPAdapter):
        def init_poolmanager(self, *arguments, **more):
            super().init_poolmanager(*arguments, source_address=("127.0.0.9", 0), **more)
    session.mount("http://", From())
    with Server(models, "--address-requests-per-minute", "2") as server:
        replies = [session.post(server.url("/v1/translate"), json=GOOD, timeout=PATIENCE) for _ in range(3)]
        assert [r.status_code for r in replies] == [200, 200, 429]
        assert [left(r)["requests"][:3] for r in replies] == [(2, 60, 1), (2, 60, 0), (2, 60, 0)]
        assert "RateLimit" not in server.translate("Hello.").headers  # this machine has no limit
