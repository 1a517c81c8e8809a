"""Serve a graph and ask it over HTTP (needs: pip install 'clew[serve]')."""

import json
import re
import subprocess
import sys
from pathlib import Path
from urllib.request import Request, urlopen

FILMS = Path(__file__).with_name("films.tsv")

command = [sys.executable, "-m", "clew", "serve", str(FILMS), "--port", "0"]
with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as server:
    try:
        address = ""
        for line in server.stderr or ():
            if found := re.search(r"serving .* at (http://\S+)", line):
                address = found[1]
                break
        body = json.dumps({"question": "Who directed Memento?"}).encode()
        request = Request(f"{address}/v1/films/ask", body, {"Content-Type": "application/json"})
        with urlopen(request) as reply:
            answer = json.load(reply)
        print(answer["text"], answer["citations"][0]["triples"])
    finally:
        server.terminate()
        server.communicate()
