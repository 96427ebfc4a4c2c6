"""The model server under traffic: queues, batches, new versions, the end, and its memory."""

import contextlib
import http.client
import json
import signal
import threading
import time

import pytest
import serving
from environments import needs_plans

import tidemark as tf

if not serving.is_built():
    pytest.skip("the server is not built", allow_module_level=True)

ONE = {"instances": [[1, 1, 1]]}
LONG = 20_000_000  # rounds of the slow model: seconds


@contextlib.contextmanager
def asking(server, model, body, count):
    """So many clients ask the same, each in a thread; the list fills with their answers."""
    answers = []

    def ask():
        connection = server.connect(timeout=60)
        with contextlib.suppress(OSError, http.client.HTTPException):
            answers.append(server.predict(model, body, connection=connection))
        connection.close()

    threads = [threading.Thread(target=ask) for _ in range(count)]
    for thread in threads:
        thread.start()
    try:
        yield answers
    finally:
        for thread in threads:
            thread.join()


def test_batches_give_each_its_own_rows(tmp_path):
    serving.save_linear(tmp_path / "linear")
    options = ("--max-batch-size", "16", "--batch-timeout-micros", "20000",
               "--allowed-batch-sizes", "4,16", "--slots", "1")  # fmt: skip
    with serving.Server(tmp_path, *options) as server:
        wrong = []

        def ask(number):
            connection = server.connect()
            for _ in range(10):
                rows = [[number, 0, 0]] * (1 + number % 3)
                answer = server.predict("linear", {"instances": rows}, connection=connection)
                if answer.json != {"predictions": [[2.0 * number] * 2] * len(rows)}:
                    wrong.append(answer.body)
            connection.close()

        threads = [threading.Thread(target=ask, args=(n,)) for n in range(12)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert not wrong
        stats = server.get("/v2/models/linear/stats").json["model_stats"][0]
        assert stats["inference_stats"]["success"]["count"] == 120
        assert stats["execution_count"] < 100  # they went together
        # One that is too large for a batch, and one that is wrong, harm nobody.
        assert server.predict("linear", {"instances": [[1, 1, 1]] * 40}).status == 200
        assert server.predict("linear", {"instances": [[1, 1]]}).status == 400


def test_a_full_queue_is_told_at_once(tmp_path):
    serving.save_slow(tmp_path / "slow")
    with serving.Server(tmp_path, "--slots", "1", "--max-queue", "2") as server:
        with asking(server, "slow", {"instances": [LONG // 10]}, 8) as answers:
            pass
        refused = [a for a in answers if a.status == 429]
        assert len(answers) == 8 and len(refused) >= 4
        assert all(a.headers["Retry-After"] == "1" for a in refused)
        assert "queue is full" in refused[0].json["error"]
        assert {a.status for a in answers} == {200, 429}
        assert server.metric('tidemark_refused_total{reason="queue_full"}') == len(refused)


def test_requests_past_their_deadline_are_not_run(tmp_path):
    serving.save_slow(tmp_path / "slow")
    with serving.Server(tmp_path, "--slots", "1", "--request-timeout", "0.2") as server:
        began = time.monotonic()
        with asking(server, "slow", {"instances": [LONG]}, 4) as answers:
            pass
        assert time.monotonic() - began < 4  # neither in the queue nor in the model
        assert {a.status for a in answers} == {504}
        assert server.metric('tidemark_refused_total{reason="deadline"}') == 4
        assert server.predict("slow", {"instances": [3]}).status == 200


def test_a_client_that_has_gone_is_not_computed_for(tmp_path):
    serving.save_slow(tmp_path / "slow")
    with serving.Server(tmp_path, "--slots", "1") as server:
        with asking(server, "slow", {"instances": [LONG // 5]}, 1):
            time.sleep(0.1)
            gone = server.connect()
            gone.request("POST", "/v1/models/slow:predict", f'{{"instances": [{LONG}]}}')
            time.sleep(0.05)
            gone.close()
        server.wait_for(lambda: server.metric('tidemark_refused_total{reason="client_gone"}') == 1)


def test_a_new_version_takes_over_without_a_failed_request(tmp_path):
    serving.save_linear(tmp_path / "linear", scale=1.0, version=1)
    with serving.Server(tmp_path) as server:
        stop, bad, seen = threading.Event(), [], set()

        def ask():
            connection = server.connect()
            while not stop.is_set():
                answer = server.predict("linear", ONE, connection=connection)
                if answer.status != 200:
                    bad.append(answer.body)
                else:
                    seen.add(answer.json["predictions"][0][0])
            connection.close()

        threads = [threading.Thread(target=ask) for _ in range(4)]
        for thread in threads:
            thread.start()
        for version in range(2, 8):
            serving.save_linear(tmp_path / "linear", scale=float(version), version=version)
            server.wait_for(lambda v=version: 3.0 * v in seen)
        stop.set()
        for thread in threads:
            thread.join()
        assert not bad
        assert [s["version"] for s in server.post("/v2/repository/index").json] == ["7"]


def test_a_version_in_place_a_broken_one_and_a_deleted_one(tmp_path):
    serving.save_linear(tmp_path / "linear", scale=1.0)
    with serving.Server(tmp_path) as server:

        def first():
            answer = server.predict("linear", ONE)
            return answer.json["predictions"][0][0] if answer.status == 200 else None

        assert first() == 3.0
        serving.save_linear(tmp_path / "linear", scale=5.0)  # the same version, written again
        server.wait_for(lambda: first() == 15.0)
        (tmp_path / "linear" / "2").mkdir()
        (tmp_path / "linear" / "2" / "saved_model.tidemark").write_bytes(b"TIDEMARK no model")
        versions = lambda: server.get("/v1/models/linear").json["model_version_status"]  # noqa: E731
        server.wait_for(lambda: any(v["state"] == "END" for v in versions()))
        assert first() == 15.0  # the one before goes on
        assert "DATA_LOSS" in {v["status"]["error_code"] for v in versions()}
        for version, name in (("1", "saved_model.pb"), ("2", "saved_model.tidemark")):
            (tmp_path / "linear" / version / name).unlink()
        server.wait_for(lambda: server.predict("linear", ONE).status == 404)
        serving.save_linear(tmp_path / "linear", scale=6.0, version=3)
        server.wait_for(lambda: first() == 18.0)


def test_saved_requests_warm_a_version_up(tmp_path):
    serving.save_linear(tmp_path / "good")
    (tmp_path / "good" / "1" / "warmup.jsonl").write_text('{"instances": [[1, 2, 3]]}\n')
    serving.save_linear(tmp_path / "bad")
    (tmp_path / "bad" / "1" / "warmup.jsonl").write_text('{"instances": [[1, 2, 3]]}\n{"in')
    with serving.Server(tmp_path) as server:
        assert server.predict("good", ONE).status == 200
        assert server.predict("bad", ONE).status == 404
        (status,) = server.get("/v1/models/bad").json["model_version_status"]
        assert "warmup.jsonl, line 2" in status["status"]["error_message"]


def test_which_versions_answer(tmp_path):
    for version in (1, 2, 3):
        serving.save_linear(tmp_path / "linear", scale=float(version), version=version)
    for policy, expected in (("2", [3, 2]), ("all", [3, 2, 1]), ("only:1,3", [3, 1])):
        with serving.Server(tmp_path, "--versions", policy) as server:
            status = server.get("/v1/models/linear").json["model_version_status"]
            assert [int(each["version"]) for each in status] == expected
            for version in (1, 2, 3):
                answer = server.predict(f"linear/versions/{version}", ONE)
                assert answer.status == (200 if version in expected else 404)
    with pytest.raises(AssertionError, match="--versions must be a number"):
        serving.Server(tmp_path, "--versions", "only:x")


def save_heavy(folder, version, megabytes=32):
    """Weights of so many MiB; the output is the version."""
    module = tf.Module()
    module.v = tf.Variable(tf.fill([megabytes << 18], float(version)))
    f = tf.function(lambda x: x * module.v[0], input_signature=[tf.TensorSpec([1], tf.float32)])
    tf.saved_model.save(module, str(folder / str(version)), signatures=f)


def test_two_versions_that_do_not_fit_at_once(tmp_path):
    body = {"inputs": [1]}
    for policy, survivor in (("serve-through", b"1.0"), ("swap", b"2.0")):
        folder = tmp_path / policy
        save_heavy(folder / "heavy", 1)
        with serving.Server(folder, "--memory-limit", "48MiB", "--reload", policy) as server:
            assert b"1.0" in server.predict("heavy", body).body
            save_heavy(folder / "heavy", 2)
            server.wait_for(lambda s=server: s.metric("tidemark_model_loads_total") >= 2)
            server.wait_for(lambda s=server: s.predict("heavy", body).status == 200)
            assert survivor in server.predict("heavy", body).body
            assert server.get("/v2/health/ready").status == 200
            newest = server.get("/v1/models/heavy").json["model_version_status"][0]
            if policy == "serve-through":
                assert newest["status"]["error_code"] == "RESOURCE_EXHAUSTED"
                assert str(48 << 20) in newest["status"]["error_message"]


def test_unloading_gives_every_byte_back(tmp_path):
    serving.save_linear(tmp_path / "linear")
    (tmp_path / "none").mkdir()
    with serving.Server(tmp_path, "--admin", "local") as server:
        assert server.predict("linear", ONE).status == 200
        before = server.resident_bytes()
        save_heavy(tmp_path / "heavy", 1)
        for _ in range(5):
            server.post("/v2/repository/models/heavy/load")
            assert b"1.0" in server.predict("heavy", {"inputs": [1]}).body
            assert server.resident_bytes() - before > 30 << 20
            assert server.post("/v2/repository/models/heavy/unload").status == 200
            assert server.resident_bytes() - before < 2 << 20


def test_a_table_read_from_a_file_is_served_without_the_file(tmp_path):
    words = tmp_path / "words.txt"
    words.write_text("a\nb\nc\n")
    index = tf.lookup.TextFileIndex
    module = tf.Module()
    module.table = tf.lookup.StaticVocabularyTable(
        tf.lookup.TextFileInitializer(
            str(words), tf.string, index.WHOLE_LINE, tf.int64, index.LINE_NUMBER
        ),
        1,
    )
    f = tf.function(
        module.table.lookup, input_signature=[tf.TensorSpec([None], tf.string, name="x")]
    )
    tf.saved_model.save(module, str(tmp_path / "models" / "words" / "1"), signatures=f)
    words.unlink()
    with serving.Server(tmp_path / "models") as server:
        answer = server.predict("words", {"instances": ["b", "z", "c"]})
        assert answer.json == {"predictions": [1, 3, 2]}


def test_swapping_versions(tmp_path):
    serving.save_linear(tmp_path / "linear", scale=1.0)
    with serving.Server(tmp_path, "--reload", "swap") as server:
        serving.save_linear(tmp_path / "linear", scale=2.0, version=2)
        server.wait_for(lambda: b"6.0" in server.predict("linear", ONE).body)


def test_a_model_that_does_not_fit_is_refused_with_the_numbers(tmp_path):
    serving.save_linear(tmp_path / "small")
    module = tf.Module()
    module.v = tf.Variable(tf.zeros([100_000]))
    f = tf.function(lambda x: x + module.v[:1], input_signature=[tf.TensorSpec([1], tf.float32)])
    tf.saved_model.save(module, str(tmp_path / "large" / "1"), signatures=f)
    with serving.Server(tmp_path, "--max-weights", "100KiB", "--admin", "local") as server:
        assert server.predict("small", ONE).status == 200
        (status,) = server.get("/v1/models/large").json["model_version_status"]
        assert status["status"]["error_code"] == "RESOURCE_EXHAUSTED"
        assert "400" in status["status"]["error_message"]
        assert "102400" in status["status"]["error_message"]
        assert server.post("/v2/repository/models/large/load").status == 429


def save_wide(folder):
    """Takes 16 KiB a row while it runs."""
    module = tf.Module()
    module.w, module.v = tf.Variable(tf.ones([8, 4096])), tf.Variable(tf.ones([4096, 2]))
    f = tf.function(
        lambda x: tf.matmul(tf.nn.relu(tf.matmul(x, module.w)), module.v),
        input_signature=[tf.TensorSpec([None, 8], tf.float32, name="x")],
    )
    tf.saved_model.save(module, str(folder / "1"), signatures=f)


@needs_plans
def test_what_a_model_takes_is_known_before_its_weights_are_read(tmp_path):
    save_wide(tmp_path / "models" / "wide")
    path = tmp_path / "models/wide/1/variables/variables.data-00000-of-00001"
    damaged = bytearray(path.read_bytes())
    damaged[0] ^= 1  # the first weight: whoever reads it says so
    path.write_bytes(damaged)
    options = ["--memory-limit", "24MiB", "--slots", "2"]
    saved = json.dumps({"instances": [[1, 2, 3, 4, 5, 6, 7, 8]] * 3})
    (tmp_path / "models" / "wide" / "1" / "warmup.jsonl").write_text(saved + "\n")

    def error_with(*more):
        with serving.Server(tmp_path / "models", *options, *more) as server:
            (status,) = server.get("/v1/models/wide").json["model_version_status"]
            return status["status"]["error_code"], status["status"]["error_message"]

    assert error_with()[0] == "DATA_LOSS"
    for more in (["--max-batch-size", "1024"], ["--bucket", "wide:x=1024x8"]):
        code, text = error_with(*more)
        assert code == "RESOURCE_EXHAUSTED", text
        assert "in each of 2 slots" in text
        assert str(24 << 20) in text
        assert str((8 + 2) * 4096 * 4) in text  # the weights


def test_a_request_that_cannot_fit_is_told_so(tmp_path):
    save_wide(tmp_path / "wide")
    row = [1, 0, 0, 0, 0, 0, 0, 0]
    with serving.Server(tmp_path, "--memory-limit", "24MiB") as server:
        for _ in range(4):  # not planned at first, then planned
            answer = server.predict("wide", {"instances": [row] * 4000})
            assert answer.status == 413, answer.body
            assert "Retry-After" not in answer.headers
            assert server.predict("wide", {"instances": [row]}).status == 200
        many = {"instances": [[0] * 8] * 900_000}  # its inputs alone take 28 MB
        assert server.predict("wide", many).status == 413
        assert server.predict("wide", {"instances": [row]}).status == 200
        assert server.metric('tidemark_refused_total{reason="too_large"') >= 4


def test_buckets_are_planned_at_load(tmp_path):
    save_wide(tmp_path / "wide")
    with serving.Server(tmp_path) as server:
        one_row = server.metric("tidemark_model_plan_bytes")
    with serving.Server(tmp_path, "--bucket", "wide:x=32x8", "--bucket", "wide:x=64x8") as server:
        assert 32 * one_row <= server.metric("tidemark_model_plan_bytes") <= 65 * one_row
        rows = [[1, 0, 0, 0, 0, 0, 0, 0]] * 64
        assert server.predict("wide", {"instances": rows}).json["predictions"][63] == [4096, 4096]
    for bucket, text in (("wide:y=1x8", "no signature"), ("wide:x=1x9", "must have shape")):
        with serving.Server(tmp_path, "--bucket", bucket) as server:
            (status,) = server.get("/v1/models/wide").json["model_version_status"]
            assert text in status["status"]["error_message"]


def test_tokens(tmp_path):
    serving.save_linear(tmp_path / "models" / "linear")
    (tmp_path / "token").write_text("secret\n")
    with serving.Server(tmp_path / "models", "--token-file", str(tmp_path / "token")) as server:
        assert server.predict("linear", ONE).status == 401
        for token in ("Bearer wrong", "Bearer ", "secret"):
            assert server.predict("linear", ONE, headers={"Authorization": token}).status == 401
        given = {"Authorization": "Bearer secret"}
        assert server.predict("linear", ONE, headers=given).status == 200
        assert server.get("/v2/health/ready").status == 200


def test_sigterm_answers_what_has_come_in(tmp_path):
    serving.save_slow(tmp_path / "slow")
    with serving.Server(tmp_path) as server:
        with asking(server, "slow", {"instances": [LONG // 5]}, 3) as answers:
            server.wait_for(
                lambda: (
                    server.metric('tidemark_slots{state="busy"}')
                    + server.metric("tidemark_model_queue_requests")
                    == 3
                )
            )
            server.send_signal(signal.SIGTERM)
        assert [a.status for a in answers] == [200] * 3
        assert server.wait() == 0


def test_wrong_options_are_named(tmp_path):
    for options, text in [
        (["--port", "x"], "--port must be a number"),
        (["--nothing", "1"], "no option --nothing"),
        (["--reload", "now"], "serve-through or swap"),
        (["--bucket", "x=1"], "--bucket is MODEL:INPUT"),
        (["--bucket", "m:x"], "--bucket is MODEL:INPUT"),
        (["--bucket", "m:x=0x8"], "number from 1"),
        (["--bucket", "m:" + "x=" + "1000000000x" * 9 + "2"], "too large|overflow|elements"),
    ]:
        with pytest.raises(AssertionError, match=text):
            serving.Server(tmp_path, *options)


def test_restarts_after_kill(tmp_path):
    serving.save_linear(tmp_path / "linear")
    for _ in range(3):
        server = serving.Server(tmp_path)
        with asking(server, "linear", ONE, 4):
            server.send_signal(signal.SIGKILL)
        server.wait()
        server.stop()
    with serving.Server(tmp_path) as server:
        assert server.predict("linear", ONE).status == 200


def test_memory_is_flat_under_mixed_requests_and_reloads(tmp_path):
    serving.save_linear(tmp_path / "linear")
    bodies = ['{"instances": [[1, 2, 3]]}', '{"inputs": [[1, 2, 3], [4, 5, 6]]}', "{", "[]",
              '{"instances": [[1, 2]]}',
              '{"instances": [' + "[1, 2, 3], " * 99 + "[1, 2, 3]]}"]  # fmt: skip
    with serving.Server(tmp_path) as server:

        def some(count):
            for number in range(count):
                server.predict("linear", bodies[number % len(bodies)])

        def reload(scale):
            loads = server.metric("tidemark_model_loads_total")
            serving.save_linear(tmp_path / "linear", scale=scale)
            server.wait_for(lambda: server.metric("tidemark_model_loads_total") > loads)

        some(3000)
        for _ in range(20):  # after the first compilations their code is let go, later it stays
            reload(1.0)
            some(60)
        before = server.resident_bytes()
        for number in range(10):
            some(600)
            reload(float(number))
        grown = server.resident_bytes() - before
        assert grown < 2 << 20, f"the server grew by {grown} bytes"
        live = server.get("/status.json").json["live"]
        assert live < 1 << 20


def test_thousands_of_connections_in_a_row_leave_nothing(tmp_path):
    serving.save_linear(tmp_path / "linear")
    with serving.Server(tmp_path) as server:
        for _ in range(500):
            connection = server.connect()
            server.predict("linear", ONE, connection=connection)
            connection.close()
        server.wait_for(lambda: server.metric("tidemark_connections") <= 1)
        before = server.resident_bytes()
        for _ in range(2000):
            connection = server.connect()
            server.predict("linear", ONE, connection=connection)
            connection.close()
        server.wait_for(lambda: server.metric("tidemark_connections") <= 1)
        assert server.resident_bytes() - before < 1 << 20
        assert server.metric("tidemark_requests_in_flight_bytes") == 0
