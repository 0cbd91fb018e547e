"""Prices of models, from the list that genai-prices brings along."""

import socket
import sys

import pytest

from microloop import AdapterError, Guardrail
from microloop.prices import usd_of


@pytest.fixture
def list_of_prices():
    pytest.importorskip("genai_prices")


@pytest.fixture
def no_network(monkeypatch):
    def refused(*args, **kwargs):
        raise AssertionError("the network was used")

    monkeypatch.setattr(socket, "socket", refused)


@pytest.mark.usefixtures("list_of_prices", "no_network")
def test_a_known_model_has_a_price_without_the_network():
    price = usd_of("gpt-4o", input_tokens=1000, output_tokens=100)
    assert price is not None
    assert 0 < price < 1
    assert usd_of("gpt-4o", input_tokens=2000, output_tokens=200) == pytest.approx(2 * price)
    assert usd_of("gpt-4o", input_tokens=1000, output_tokens=100, provider="openai") == price


@pytest.mark.usefixtures("list_of_prices")
def test_tokens_from_a_cache_are_a_part_of_the_input_and_cheaper():
    plain, cached = (usd_of("gpt-4o", input_tokens=1000, output_tokens=0, cached_tokens=each) for each in (0, 800))
    assert 0 < cached < plain
    with pytest.raises(ValueError, match=r"cache|Uncached"):
        usd_of("gpt-4o", input_tokens=1000, output_tokens=0, cached_tokens=1001)


@pytest.mark.usefixtures("list_of_prices")
@pytest.mark.parametrize(("model", "provider"), [("no-such-model", None), ("gpt-4o", "no-such-provider")])
def test_what_the_list_does_not_know_has_no_price(model, provider):
    assert usd_of(model, input_tokens=1000, output_tokens=100, provider=provider) is None


@pytest.mark.usefixtures("list_of_prices")
def test_negative_tokens_are_refused():
    with pytest.raises(ValueError, match="tokens is -1"):
        usd_of("gpt-4o", input_tokens=-1, output_tokens=0)


@pytest.mark.usefixtures("list_of_prices")
def test_a_price_is_what_a_session_spends():
    session = Guardrail({"version": 1, "budgets": {"usd": 0.001}}).session()
    price = usd_of("gpt-4o", input_tokens=10_000, output_tokens=1000)
    assert session.spend(tokens=11_000, usd=price).reason == "budget.usd"


def test_without_the_package_it_is_said_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "genai_prices", None)
    with pytest.raises(AdapterError, match=r"pip install --upgrade 'genai-prices>=0\.0\.23'"):
        usd_of("gpt-4o", input_tokens=1, output_tokens=1)
