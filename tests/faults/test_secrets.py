"""Keys and passwords, also echoed by a server, are in nothing that a run writes."""

import json
import sys
from base64 import b64decode, b64encode
from dataclasses import dataclass
from pathlib import Path

import pytest

from clew import errors
from clew.cli import main
from clew.foundation import redaction
from clew.foundation.redaction import RedactedStream, keep_address, keep_secret, redacted
from servers.fake_server import Answer, completion, serving

pytest.importorskip("openai")

KEY = "sk-proj-0123456789abcdef+/é"[:-1]
PASSWORD, PARAMETER = "s3cr3t/pass word", "q7-param-4711"
SECRETS = (KEY, PASSWORD, "s3cr3t%2Fpass%20word", PARAMETER, b64encode(f"me:{PASSWORD}".encode()).decode())
QUESTION = "Who directed Memento?"


@pytest.fixture
def forgotten(monkeypatch):
    """What other tests have kept is not known, and what this one keeps is forgotten."""
    monkeypatch.setattr(redaction, "_secrets", set())
    monkeypatch.setattr(redaction, "_pattern", None)


def told(seen) -> str:
    """All that came in, the password decoded too."""
    kind, _, sent = seen.headers.get("authorization", "").partition(" ")
    decoded = b64decode(sent).decode() if kind == "Basic" else sent
    return f"Christopher Nolan. You sent {seen.path} with {json.dumps(seen.headers)}, or {decoded}"


def echoing(seen):
    return Answer(completion(told(seen)), headers={"x-echo": KEY})


def failing(seen):
    return Answer({"error": {"message": told(seen)}}, 500)


def leaks(folder: Path, *texts: str) -> list[str]:
    """Where a secret is: names of files, or a part of the output."""
    found = [text[max(text.find(s) - 80, 0) :][:200] for text in texts for s in SECRETS if s in text]
    for file in folder.rglob("*"):
        if file.is_file():
            content = file.read_bytes()
            found += [str(file) for secret in SECRETS if secret.encode() in content]
    return found


def with_password(url: str) -> str:
    return url.replace("http://", "http://me:s3cr3t%2Fpass%20word@")


@pytest.fixture
def folder(tmp_path):
    data = tmp_path / "data"
    (data / "1-hop" / "vanilla").mkdir(parents=True)
    (data / "kb.txt").write_text("Memento|directed_by|Christopher Nolan\nHeat|directed_by|Michael Mann\n")
    (data / "1-hop" / "vanilla" / "qa_dev.txt").write_text("who directed [Memento]\tChristopher Nolan\n")
    (tmp_path / "films.tsv").write_text("Memento\tdirected_by\tChristopher Nolan\n")
    return tmp_path


@dataclass(frozen=True)
class Done:
    """What a command line ended with, and what it wrote to its streams."""

    code: int
    stdout: str
    stderr: str


@pytest.fixture
def run(folder, monkeypatch, capsys):
    """Run the command line as its process does, where nothing is known of the secrets of an earlier one."""
    monkeypatch.chdir(folder)
    monkeypatch.setenv("CLEW_CACHE_DIR", str(folder / "cache"))

    def command(*arguments):
        with monkeypatch.context() as its:
            its.setattr(redaction, "_secrets", set())
            its.setattr(redaction, "_pattern", None)
            its.setattr(sys, "argv", ["clew", *arguments])
            its.setattr(sys, "stdout", sys.stdout)
            its.setattr(sys, "stderr", sys.stderr)
            with pytest.raises(SystemExit) as ended:
                main()
        told = capsys.readouterr()
        return Done(ended.value.code, told.out, told.err)

    return command


@pytest.fixture
def run_with_keys(run, monkeypatch):
    """Run the command line with a key, and with an address that has a secret parameter."""
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    monkeypatch.setenv("NEO4J_PASSWORD", PASSWORD)

    def command(url, *arguments):
        monkeypatch.setenv("OPENAI_BASE_URL", f"{url}/v1?api-key={PARAMETER}")
        return run(*arguments)

    return command


MODEL = ("--llm", "openai/gpt-4o")
ASK = ("ask", "films.tsv", QUESTION, "--method", "llm", *MODEL, "--trace", "trace.jsonl")


def test_a_run_writes_no_secret(run_with_keys, folder):
    with serving(by=echoing) as (fake, url):
        done = [
            run_with_keys(url, *ASK, "--json", "--explain"),
            run_with_keys(with_password(url), *ASK, "--json", "--explain"),
            run_with_keys(url, "doctor", *MODEL, "--json"),
            run_with_keys(
                url, "eval", "data", "--dataset", "metaqa", "--hops", "1", "--split", "dev",
                "--method", "llm,kaping", *MODEL, "--out", "run", "--trace", "eval.jsonl",
            ),
            run_with_keys(url, "eval", "run", "--report", "report.html"),
        ]  # fmt: skip
        sent = {seen.headers.get("authorization", "").split()[-1] for seen in fake.seen}
        assert sent == {KEY, SECRETS[-1]}
    texts = [text for one in done for text in (one.stdout, one.stderr)]
    assert [one.code for one in done] == [0, 0, 1, 0, 0], texts
    assert "***" in (folder / "trace.jsonl").read_text()
    assert "***" in (folder / "run" / "records.jsonl").read_text()
    assert leaks(folder, *texts) == []


def test_an_error_tells_no_secret_nor_does_its_trace(run_with_keys, folder):
    with serving(by=failing) as (_, url):
        done = [
            run_with_keys(url, "--debug", *ASK),
            run_with_keys(with_password(url), "--debug", *ASK),
            run_with_keys(url, "--debug", "doctor", *MODEL, "--json"),
            run_with_keys(url, "--debug", "index", "films.tsv", "--embedder", "openai/e", "-o", "x.clew"),
            run_with_keys(url, "--debug", "query", f"neo4j://me:{SECRETS[2]}@127.0.0.1:9/db", "RETURN 1"),
            run_with_keys(url, "--debug", "query", f"sparql+http://me:{SECRETS[2]}@127.0.0.1:9/", "ASK {}"),
            run_with_keys(url, "--debug", f"neo4j://me:{SECRETS[2]}@127.0.0.1:9/db"),
            run_with_keys(url, "--debug", "info", f"http://me:{SECRETS[2]}@127.0.0.1:9/?api-key={PARAMETER}"),
        ]
    assert all(one.code in (1, 2) for one in done), [(one.code, one.stderr) for one in done]
    assert leaks(folder, *(text for one in done for text in (one.stdout, one.stderr))) == []


def test_an_address_keeps_its_place(forgotten):
    keep_address("http://me:pw@host:80/v1?api-key=abc&x=1")
    assert (
        redacted("at http://me:pw@host:80/v1?api-key=abc&x=1")
        == "at http://me:***@host:80/v1?api-key=***&x=1"
    )
    assert redacted("pw and abc") == "pw and abc"  # too short to be looked for anywhere


@pytest.mark.parametrize("sign", "/?#@:[ ".replace(" ", ""))
@pytest.mark.parametrize(
    "scheme", ["neo4j://", "sparql+http://", "http://", "films=neo4j://", "neo4j:", "neo4j//"]
)
def test_a_password_with_a_raw_sign_is_known(forgotten, scheme, sign):
    keep_address(f"{scheme}me:a{sign}PASSWORD{sign}z@127.0.0.1:1/db")
    assert (
        redacted(f"no {scheme}me:a{sign}PASSWORD{sign}z@127.0.0.1:1/db")
        == f"no {scheme}me:***@127.0.0.1:1/db"
    )


@pytest.mark.parametrize(
    ("address", "shown"),
    [
        ("neo4j:q7-param@127.0.0.1:1", "neo4j:***@127.0.0.1:1"),
        ("neo4j://me:q7 pa/r@m@127.0.0.1:1", "neo4j://me:***@127.0.0.1:1"),
        ("me:q7-param@host:/x.tsv", "me:***@host:/x.tsv"),
        ("https://h/x.tsv?X-Amz-Signature=q7-param&y=1", "https://h/x.tsv?X-Amz-Signature=***&y=1"),
        ("https://h/x?X-Amz-Security-Token=q7-param", "https://h/x?X-Amz-Security-Token=***"),
    ],
)
def test_a_password_without_a_scheme_and_a_signature_are_known(forgotten, address, shown):
    keep_address(address)
    assert redacted(f"no {address}") == f"no {shown}"


@pytest.mark.parametrize("name", ["HTTPS_PROXY", "ALL_PROXY"])
def test_an_address_of_a_proxy_that_is_none_is_not_repeated(run, monkeypatch, name):
    monkeypatch.setenv(name, f"me:{PARAMETER}/x@127.0.0.1:9")
    monkeypatch.setenv("OPENAI_API_KEY", KEY.rstrip("é+/"))
    arguments = ["ask", "films.tsv", QUESTION, "--method", "llm", "--llm", "openai/m"]
    done = run(*arguments)
    assert done.code == 2, done.stderr
    assert "HTTPS_PROXY" in done.stderr
    assert PARAMETER not in done.stdout + done.stderr


@pytest.mark.parametrize(
    "options",
    [
        ["ask", "films.tsv", "x", "--llm"],
        ["ask", "films.tsv", "x", "--embedder"],
        ["ask", "films.tsv", "x", "--method"],
        ["index", "films.tsv", "--vectors", "milvus", "--milvus"],
        ["index", "films.tsv", "--verbalise"],
        ["info"],
        [],
    ],
)
def test_an_address_in_the_wrong_place_is_not_repeated(run, options):
    address = f"neo4j://me:a/{PARAMETER}@127.0.0.1:1"
    done = run(*options, address)
    assert done.code == 2, done.stderr
    assert PARAMETER not in done.stdout + done.stderr


@pytest.mark.parametrize("name", ["OPENAI_BASE_URL", "OLLAMA_HOST"])
@pytest.mark.parametrize(
    "address", [f"http://me:a/{PARAMETER}@127.0.0.1:1/v1", f"me:{PARAMETER}@127.0.0.1:x"]
)
def test_an_address_of_a_model_that_is_none_is_not_repeated(run, monkeypatch, name, address):
    monkeypatch.setenv(name, address)
    model = "ollama/m" if name == "OLLAMA_HOST" else "openai/m"
    arguments = ["ask", "films.tsv", QUESTION, "--method", "llm", "--llm", model]
    done = run(*arguments)
    assert done.code == 2, done.stderr
    assert PARAMETER not in done.stdout + done.stderr


@pytest.mark.parametrize(
    "form", ['a\\"b cédé', 'a\\"b c\\u00e9d\\u00e9', "a%22b%20c%C3%A9d%C3%A9", "a%22b+c%C3%A9d%C3%A9"]
)
def test_other_spellings_of_a_secret_are_known(forgotten, form):
    keep_secret('a"b cédé')
    assert redacted(f"x {form} y") == "x *** y"


def test_an_error_redacts_when_it_is_made(forgotten):
    keep_secret("top-secret-key")
    error = errors.InputError("refused top-secret-key")
    assert (str(error), repr(error)) == ("refused ***", "InputError('refused ***')")


def test_nothing_is_changed_without_a_secret(forgotten):
    keep_secret("")
    keep_secret(None)
    keep_address("films.tsv")
    assert redacted("a text") == "a text"


def test_a_stream_is_the_one_behind_but_for_secrets(forgotten, capsys):
    keep_secret("top-secret-key")
    stream = RedactedStream(sys.stdout)
    print("my top-secret-key", file=stream)
    assert (stream.encoding, stream.isatty()) == (sys.stdout.encoding, False)
    assert capsys.readouterr().out == "my ***\n"
