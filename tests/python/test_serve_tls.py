"""tidemark serve over TLS: certificates, slow handshakes, clients that speak something else."""

import shutil
import socket
import ssl
import subprocess
import threading
import time

import pytest
import serving

pytestmark = pytest.mark.skipif(
    not serving.is_built() or shutil.which("openssl") is None,
    reason="built without the server, or no openssl here",
)

TOKEN = {"Authorization": "Bearer sesame"}
BODY = {"instances": [[1.0, 2.0, 3.0]]}


def make_certificate(folder, name="server"):
    """A self-signed certificate of 127.0.0.1 and its key."""
    certificate, key = folder / f"{name}.pem", folder / f"{name}.key"
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1",
         "-nodes", "-keyout", key, "-out", certificate, "-days", "2", "-subj", f"/CN={name}",
         "-addext", "subjectAltName=IP:127.0.0.1"],
        check=True, capture_output=True,
    )  # fmt: skip
    return certificate, key


def trusting(certificate):
    return ssl.create_default_context(cafile=str(certificate))


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    return make_certificate(tmp_path_factory.mktemp("certificates"))


@pytest.fixture(scope="module")
def server(tmp_path_factory, files):
    folder = tmp_path_factory.mktemp("models")
    serving.save_linear(folder / "linear")
    token = folder.parent / "token"
    token.write_text("sesame\n")
    with serving.Server(
        folder, "--tls-certificate", str(files[0]), "--tls-key", str(files[1]),
        "--token-file", str(token), "--read-timeout", "1", tls=trusting(files[0]),
    ) as made:  # fmt: skip
        yield made


def test_requests_and_tokens(server):
    assert "https://" in "".join(server.log)
    for _ in range(3):
        answer = server.predict("linear", BODY, headers=TOKEN)
        assert answer.status == 200
        assert answer.json == {"predictions": [[12.0, 12.0]]}
    assert server.predict("linear", BODY).status == 401
    assert server.get("/v2/health/ready").status == 200


def test_a_large_body_and_a_large_answer(server):
    rows = [[float(i), 0.0, 0.0] for i in range(50_000)]
    answer = server.predict("linear", {"instances": rows}, headers=TOKEN)
    assert answer.status == 200
    assert answer.json["predictions"][-1] == [99998.0, 99998.0]


def refused_handshakes(server):
    return server.metric('tidemark_refused_total{reason="tls_handshake"', TOKEN)


def test_a_client_that_does_not_trust_it_or_speaks_no_tls(server):
    before = refused_handshakes(server)
    with pytest.raises(ssl.SSLCertVerificationError):
        raw = socket.create_connection(("127.0.0.1", server.port))
        ssl.create_default_context().wrap_socket(raw, server_hostname="127.0.0.1")
    with socket.create_connection(("127.0.0.1", server.port), timeout=10) as raw:
        raw.sendall(b"GET /v2/health/live HTTP/1.1\r\nHost: x\r\n\r\n")
        assert b"200" not in raw.recv(1000)
    server.wait_for(lambda: refused_handshakes(server) >= before + 2)


def test_old_versions_of_tls_are_refused(server, files):
    context = trusting(files[0])
    context.set_ciphers("ALL:@SECLEVEL=0")
    with pytest.warns(DeprecationWarning):
        context.minimum_version = ssl.TLSVersion.TLSv1
        context.maximum_version = ssl.TLSVersion.TLSv1_1
    address = ("127.0.0.1", server.port)
    with (
        socket.create_connection(address, timeout=10) as raw,
        pytest.raises((ssl.SSLError, ConnectionError)),
    ):
        context.wrap_socket(raw, server_hostname="127.0.0.1")


def test_handshakes_that_never_end_are_cut_off_and_disturb_nobody(server):
    raws = [socket.create_connection(("127.0.0.1", server.port), timeout=10) for _ in range(50)]
    for number, raw in enumerate(raws):
        raw.sendall(b"\x16\x03\x01\x02\x00\x01"[: number % 6 + 1])
    began = time.time()
    assert server.get("/v2/health/live", connection=server.connect()).status == 200
    assert time.time() - began < 0.9  # they are still there
    for raw in raws:
        assert raw.recv(100) == b""  # a second later they are not
        raw.close()
    assert time.time() - began < 8


def test_a_certificate_that_is_replaced_is_read_again(tmp_path):
    serving.save_linear(tmp_path / "models" / "linear")
    certificate, key = make_certificate(tmp_path)
    others = tmp_path / "others"
    others.mkdir()
    new_certificate, new_key = make_certificate(others)
    with serving.Server(
        tmp_path / "models", "--tls-certificate", str(certificate), "--tls-key", str(key),
        tls=trusting(certificate),
    ) as server:  # fmt: skip
        kept = server.connect()
        assert server.get("/v2/health/live", connection=kept).status == 200
        certificate.write_text("no certificate at all")
        time.sleep(1.1)
        # The old one answers: a broken file changes nothing.
        assert server.get("/v2/health/live", connection=server.connect()).status == 200
        shutil.copy(new_key, key)
        shutil.copy(new_certificate, certificate)
        server._tls = trusting(new_certificate)

        def answers():
            try:
                return server.get("/v2/health/live", connection=server.connect()).status == 200
            except ssl.SSLError:
                return False

        server.wait_for(answers)
        assert server.get("/v2/health/live", connection=kept).status == 200


@pytest.mark.parametrize("change", ["one", "missing", "other key", "no PEM"])
def test_files_that_are_no_pair_are_named(tmp_path, files, change):
    (tmp_path / "models").mkdir()
    certificate, key = map(str, files)
    options = {
        "one": ["--tls-certificate", certificate],
        "missing": ["--tls-certificate", str(tmp_path / "none.pem"), "--tls-key", key],
        "other key": ["--tls-certificate", certificate, "--tls-key"],
        "no PEM": ["--tls-certificate", certificate, "--tls-key", __file__],
    }[change]
    if change == "other key":
        options.append(str(make_certificate(tmp_path)[1]))
    done = subprocess.run(
        [serving.program(), "--models", tmp_path / "models", "--port", "0", *options],
        capture_output=True, text=True, timeout=30,
    )  # fmt: skip
    assert done.returncode == 2
    assert "--tls-" in done.stderr


def test_memory_is_flat_over_thousands_of_handshakes(tmp_path, files):
    serving.save_linear(tmp_path / "linear")
    options = ["--tls-certificate", str(files[0]), "--tls-key", str(files[1])]
    with serving.Server(tmp_path, *options, tls=trusting(files[0])) as server:
        check_flat(server)


def check_flat(server):
    def shake(count):
        for _ in range(count):
            connection = server.connect()
            server.get("/v2/health/live", connection=connection)
            connection.close()

    def many(count):
        threads = [threading.Thread(target=shake, args=(count // 4,)) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

    many(600)
    before = server.resident_bytes()
    many(2000)
    assert server.metric("tidemark_connections") < 10
    assert server.resident_bytes() - before < 2 << 20
