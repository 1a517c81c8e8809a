import socket

import pytest

from clew.llm import Settings, ask, open_model, run_sync
from clew.llm.types import ModelUnreachable


def test_another_host_cannot_be_reached():
    with pytest.raises(OSError, match="off in tests"), socket.socket() as made:
        made.connect(("192.0.2.1", 80))


@pytest.mark.parametrize("host", ["192.0.2.1", "api.openai.com"])
def test_a_model_of_another_host_cannot_be_reached(only_localhost: list[str], host: str):
    pytest.importorskip("openai")
    model = open_model(Settings("openai/x", base_url=f"http://{host}/v1", api_key="k"))
    with pytest.raises(ModelUnreachable):
        run_sync(model.complete(ask("hello")))
    run_sync(model.close())
    assert only_localhost == [host]
