"""The server's settings: file, environment and flags, errors in them, and the plan of memory and descriptors that follows from
them."""
import concurrent.futures
import json
import os
import re
import resource
import subprocess

import pytest

from conftest import PATIENCE, ROOT, SERVER, Server, long_text, run_server


@pytest.mark.parametrize("flags, status, words", [
    (["--models", "/nowhere"], 2, ["/nowhere"]),  # systemd does not restart a service that exits with 2 (RestartPreventExitStatus)
    (["--models", os.path.dirname(__file__)], 2, ["holds no bundle"]),
    (["--models", "x", "--host", "203.0.113.1"], 1, ["--host"]),
])
def test_what_is_wrong_is_said(flags, status, words):
    done = run_server(*flags)
    assert done.returncode == status and done.stdout == ""
    for word in words:
        assert word in done.stderr


def test_misspelt_variables_are_reported(models):
    with Server(models, env={"DRAGOMAN_MAX_CHARS": "5", "DRAGOMAN_MAX_TEXTS": "64"}) as server:
        (line,) = [line for line in server.log if "unknown environment variables" in line]
        assert "DRAGOMAN_MAX_CHARS" in line and "DRAGOMAN_MAX_TEXTS" not in line and "level=warn" in line


def test_variables_that_the_servers_parts_read_are_known(models):
    """Every name of one in the sources that the server is made of, set to nothing."""
    named = set()
    for room in "base kernels model weights text tokenizer documents translate store".split():
        for folder, _, files in os.walk(os.path.join(ROOT, room)):
            for file in (f for f in files if f.endswith((".c", ".cc", ".cu")) and f != "nccl.c"):  # NCCL is the trainer's alone
                with open(os.path.join(folder, file), encoding="utf-8") as f:
                    named.update(re.findall(r'"(DRAGOMAN_[A-Z_]*[A-Z])"', f.read()))
    others = named - {"DRAGOMAN_" + key.upper() for key in settings(run_server("--print-config").stdout)}
    assert {"DRAGOMAN_ISA", "DRAGOMAN_SHORTLIST", "DRAGOMAN_CUDA_PATIENCE"} <= others
    with Server(models, env=dict.fromkeys(others, "")) as server:
        unknown = [line for line in server.log if "unknown environment variables" in line]  # those of this test's own environment
        assert others & set(re.findall(r"DRAGOMAN_\w+", "".join(unknown))) == set()


def test_isa_is_what_was_asked_for(models):
    with Server(models, env={"DRAGOMAN_ISA": "generic"}) as server:
        assert {m["device"] for m in server.get("/v1/models").json()["models"]} == {"cpu/generic"}
        server.until(lambda: server.logged("device=cpu/generic"))


def settings(text):
    found = {}
    for line in text.splitlines():
        key, value, origin = re.fullmatch(r"(\w+) = (\S+)\s+# (.*)", line).groups()
        found[key] = (json.loads(value), origin)
    return found


def test_file_environment_and_flags(tmp_path):
    file = tmp_path / "server.json"
    file.write_text(json.dumps({"port": 1, "threads": 3, "models": "from-file", "request_timeout": 1.5}))
    done = run_server("--print-config", "--config", str(file), "--port", "3",
               env={"DRAGOMAN_PORT": "2", "DRAGOMAN_THREADS": "4", "DRAGOMAN_LOG_LEVEL": "warn"})
    assert done.returncode == 0
    got = settings(done.stdout)
    assert got["port"] == (3, "flag --port")
    assert got["threads"] == (4, "environment DRAGOMAN_THREADS")
    # The old name of --threads is still accepted, each way.
    for flags, env in ((["--compute-threads", "5"], {}), ([], {"DRAGOMAN_COMPUTE_THREADS": "5"})):
        assert settings(run_server("--print-config", *flags, env=env).stdout)["threads"][0] == 5
    file.write_text('{"compute_threads": 5}')
    assert settings(run_server("--print-config", "--config", str(file)).stdout)["threads"][0] == 5
    assert got["log_level"] == ("warn", "environment DRAGOMAN_LOG_LEVEL")
    assert got["models"] == ("from-file", "file " + str(file))
    assert got["request_timeout"] == (1.5, "file " + str(file))
    assert got["host"] == ("127.0.0.1", "default")


def test_every_setting_in_help_can_be_given_each_way(tmp_path):
    """The keys --print-config prints, with their defaults, are accepted by file, environment and flag."""
    defaults = {k: v for k, (v, _) in settings(run_server("--print-config").stdout).items() if k != "config"}
    text = run_server("--help").stdout
    assert {m.replace("-", "_") for m in re.findall(r"^  --([a-z-]+) [A-Z]", text, re.M)} == set(defaults) | {"config"}
    file = tmp_path / "all.json"
    file.write_text(json.dumps(defaults))
    from_file = settings(run_server("--print-config", "--config", str(file)).stdout)
    from_env = settings(run_server("--print-config", env={"DRAGOMAN_" + k.upper(): str(v) for k, v in defaults.items()}).stdout)
    flags = [x for k, v in defaults.items() for x in ("--" + k.replace("_", "-"), str(v))]
    from_flags = settings(run_server("--print-config", *flags).stdout)
    for key, value in defaults.items():
        assert from_file[key] == (value, "file " + str(file))
        assert from_env[key] == (value, "environment DRAGOMAN_" + key.upper() if value != "" else "default")
        assert from_flags[key] == (value, "flag --" + key.replace("_", "-"))


def test_an_empty_variable_is_none(tmp_path):
    """Compose files and templates pass an unset variable as an empty one: ${PORT:-}."""
    file = tmp_path / "server.json"
    file.write_text(json.dumps({"keys": "k.db", "port": 9000}))
    env = {"DRAGOMAN_PORT": "", "DRAGOMAN_KEYS": "", "DRAGOMAN_HOST": "", "DRAGOMAN_LOG_LEVEL": "", "DRAGOMAN_DIALECTS": ""}
    got = settings(run_server("--print-config", "--config", str(file), env=env).stdout)
    assert got["keys"] == ("k.db", "file " + str(file)) and got["port"] == (9000, "file " + str(file))
    assert got["host"] == ("127.0.0.1", "default") and got["dialects"] == ("all", "default")
    assert settings(run_server("--print-config", "--config", str(file), "--keys", "").stdout)["keys"] == ("", "flag --keys")


@pytest.mark.parametrize("flags, env, file, words", [
    (["--port", "abc"], {}, None, ["--port", "abc", "0", "65535"]),
    (["--port", "65536"], {}, None, ["--port", "65536"]),
    (["--port", ""], {}, None, ["--port"]),
    (["--port"], {}, None, ["--port", "value"]),
    (["--prot", "1"], {}, None, ["--prot"]),
    (["--por", "1"], {}, None, ["--por:", "(--port)"]),
    (["stray"], {}, None, ["stray"]),
    (["--log-level", "loud"], {}, None, ["--log-level", "loud", "warn"]),
    (["--request-timeout", "soon"], {}, None, ["--request-timeout", "soon"]),
    (["--http-threads", "0"], {}, None, ["--http-threads"]),
    ([], {"DRAGOMAN_PORT": "x"}, None, ["DRAGOMAN_PORT", "x"]),
    ([], {}, '{"prot": 1}', ["prot"]),
    ([], {}, '{"port": "8080"}', ["port", "integer"]),
    ([], {}, '{"host": 1}', ["host", "string"]),
    ([], {}, '{"port": 1', ["server.json"]),
    ([], {}, '[]', ["server.json", "object"]),
    (["--config", "/nowhere.json"], {}, None, ["/nowhere.json"]),
])
def test_wrong_settings(tmp_path, flags, env, file, words):
    if file is not None:
        (tmp_path / "server.json").write_text(file)
        flags = ["--config", str(tmp_path / "server.json")]
    done = run_server("--print-config", *flags, env=env)
    assert done.returncode == 2 and done.stdout == ""
    for word in words:
        assert word in done.stderr, done.stderr


def test_settings_that_do_nothing_are_reported(models):
    with Server(models, "--pivot", "fr", env={"DRAGOMAN_MAX_CHARS": "1", "DRAGOMAN_ISA": "generic"}) as server:
        server.until(lambda: server.logged("level=warn .*event=\"unknown environment variables\" names=\"?.*DRAGOMAN_MAX_CHARS\"?$"))
        server.until(lambda: server.logged('level=warn event="no model translates to or from the pivot" pivot=fr'))
        assert not server.logged("DRAGOMAN_ISA")
    with Server(models, "--pivot", "de") as server:  # en-de and de-fr
        assert not server.logged("level=warn .*pivot")
    with Server(models) as server:  # nobody asked for the default pivot, English
        assert not server.logged("level=warn .*pivot")


@pytest.mark.parametrize("flags, words", [
    ([], ["--models"]),
    (["--models", "x", "--batch-rows", "8"], ["--max-beam", "--batch-rows"]),
    (["--models", "x", "--memories", "y"], ["--memories", "--collections"]),
    (["--models", "x", "--aliases", "pb"], ["aliases", "pb=pt-BR"]),
    (["--models", "x", "--device", "gpu"], ["device", "gpu", "cuda:N"]),
    (["--models", "x", "--device", "cuda:1,cuda:1"], ["device", "cuda:1 twice"]),
])
def test_settings_that_cannot_be_served_with(flags, words):
    """Serving and checks refuse them; --print-config, which needs no models, does not."""
    for action in ([], ["--check-config"], ["--plan"]):
        done = run_server(*action, *flags)
        assert done.returncode == 2 and done.stdout == ""
        for word in words:
            assert word in done.stderr, done.stderr
    assert run_server("--print-config", *flags).returncode == 0


def test_version_and_check(models):
    assert re.fullmatch(r"dragoman-server \d+\.\d+\.\d+\n", run_server("--version").stdout)
    done = run_server("--check-config", "--models", models)
    assert done.returncode == 0, done.stderr


def test_a_check_finds_what_stops_a_start(models, tmp_path):
    """What a start would refuse, a check before it refuses too, in the same words, and leaves no file behind."""
    absent, text, broken = tmp_path / "absent" / "file", tmp_path / "text", tmp_path / "terms.en-de.tsv"
    text.write_text("hello " * 1000)
    broken.write_text("no tab\n")
    kept = ["--collections", str(tmp_path / "kept.db")]
    for flags in ([option, str(path)] for option in ("--collections", "--documents", "--suggestions", "--unix-socket")
                  for path in (absent, text)):
        refused(models, flags, flags[1])
    refused(models, ["--glossaries", str(absent)], str(absent))
    refused(models, ["--glossaries", str(broken)], str(broken))
    refused(models, ["--memories", str(broken), *kept], str(broken))
    refused(models, ["--tls-certificate", str(absent), "--tls-key", str(absent)], str(absent))
    refused(models, ["--tls-certificate", str(text), "--tls-key", str(text)], str(text))
    refused(models, ["--host", "no.such.host.invalid"], "no.such.host.invalid")
    for file in tmp_path.glob("kept.db*"):
        file.unlink()
    broken.write_text("house\tHaus\n")
    good = ["--glossaries", str(broken), "--memories", str(broken), *kept, "--unix-socket", str(tmp_path / "socket")]
    for option in ("--documents", "--suggestions"):
        good += [option, str(tmp_path / option[2:])]
    done = run_server("--check-config", "--models", models, *good)
    assert done.returncode == 0, done.stderr
    assert sorted(f.name for f in tmp_path.iterdir()) == ["terms.en-de.tsv", "text"]


def refused(models, flags, words):
    for action in (["--check-config"], ["--port", "0"]):
        done = run_server("--models", models, *action, *flags)
        assert done.returncode == 1 and words in done.stderr.splitlines()[-1], (flags, done.stderr)


def descriptors(n):
    return lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (n, n))


class Limited(Server):
    """A server that may open n files."""

    def __init__(self, models, n, *flags):
        super().__init__(models, *flags)
        self.command = ["prlimit", "--nofile=%d:%d" % (n, n), *self.command]


def test_few_descriptors_lower_the_default_and_say_so(models):
    with Limited(models, 1024) as server:
        server.until(lambda: server.logged('level=warn event="fewer connections" max_connections=768 descriptors=1024'))
        assert server.translate("Hello.").status_code == 200
        kept = [server.connect() for _ in range(700)]
        assert server.translate("Hello.").status_code == 200
        for s in kept:
            s.close()


def test_a_number_that_was_chosen_is_not_lowered(models):
    for command in (["--max-connections", "4096"], ["--max-connections", "769"]):
        done = subprocess.run([SERVER, "--models", models, "--port", "0", *command], capture_output=True, text=True,
                              preexec_fn=descriptors(1024), timeout=PATIENCE)
        assert done.returncode == 1 and "--max-connections" in done.stderr and "1024" in done.stderr
    done = subprocess.run([SERVER, "--models", models, "--port", "0"], capture_output=True, text=True,
                          preexec_fn=descriptors(200), timeout=PATIENCE)
    assert done.returncode == 1  # too few for any connection


def plan(models, *flags):
    done = subprocess.run([SERVER, "--models", models, "--plan", *flags], capture_output=True, text=True, timeout=PATIENCE)
    assert done.stderr == "", done.stderr
    return done.returncode, done.stdout


def at_most(text):
    return float(re.search(r"^  at most .* (\S+)$", text, re.M).group(1))


def test_the_plan_is_not_exceeded(endless):
    """The plan's maximum is above the memory that a busy server uses, and below twenty times that."""
    flags = ["--batch-sentences", "16", "--batch-rows", "64", "--max-connections", "300", "--max-body-bytes", "100000",
             "--workers", "2", "--threads", "1", "--max-characters", "90000", "--max-queue-tokens", "1000000"]
    status, text = plan(endless, *flags)
    assert status == 0 and "It fits." in text and re.search(r"^  endless .* 2 x ", text, re.M)
    with Server(endless, *flags) as server:
        with concurrent.futures.ThreadPoolExecutor(8) as pool:
            for r in pool.map(lambda _: server.translate(long_text(20), beam_size=4), range(16)):
                assert r.status_code == 200
        used = server.memory_mb("RssAnon")
    assert used < at_most(text) < 20 * used


def test_the_plan_grows_with_the_limits_and_fails_when_there_is_not_as_much(models):
    sizes = [at_most(plan(models, *flags)[1]) for flags in
             ([], ["--workers", "4"], ["--batch-rows", "1024", "--batch-sentences", "512"], ["--max-connections", "100000"])]
    assert all(s > sizes[0] for s in sizes[1:])
    status, text = plan(models, "--workers", "64", "--batch-rows", "4096", "--batch-sentences", "4096", "--max-connections",
                        "1000000", "--max-body-bytes", str(1 << 30))
    assert status == 1 and "does not fit" in text
    done = subprocess.run([SERVER, "--models", "/nowhere", "--plan"], capture_output=True, text=True)
    assert done.returncode == 2 and "/nowhere" in done.stderr


def test_the_plan_is_for_the_device_that_is_asked_for(models):
    _, text = plan(models, "--device", "cpu")
    assert re.search(r"^Device: cpu/\w+$", text, re.M) and "Its own memory" not in text
    nowhere = dict(os.environ, DRAGOMAN_CUDA_PLUGIN="/nowhere/plugin.so")
    command = [SERVER, "--models", models, "--plan", "--device"]
    done = subprocess.run([*command, "cuda"], env=nowhere, capture_output=True, text=True, timeout=PATIENCE)
    assert done.returncode == 1 and "/nowhere/plugin.so" in done.stderr
    done = subprocess.run([*command, "auto"], env=nowhere, capture_output=True, text=True, timeout=PATIENCE)
    assert done.returncode == 0 and re.search(r"^Device: cpu/\w+; .*/nowhere/plugin.so", done.stdout, re.M)
