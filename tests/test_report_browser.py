"""`microloop report` in a real browser, on a phone's screen and on a desk's."""

from __future__ import annotations

import json
import shutil

import pytest

from report_pages import call, hostile_steps, write

webdriver = pytest.importorskip("selenium.webdriver", reason="selenium is not installed")
from selenium.webdriver import ActionChains, ChromeOptions, Keys  # noqa: E402
from selenium.webdriver.chrome.service import Service  # noqa: E402

BROWSER = shutil.which("chromium") or shutil.which("google-chrome")
DRIVER = shutil.which("chromedriver")
pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not (BROWSER and DRIVER), reason="there is no chromium with a chromedriver on this machine"),
]

SCREENS = {"phone": (360, 740), "desk": (1280, 800)}
LONG_WORD = "unbroken" * 40
RUN = [
    {"user": "find it"},
    *(call("read_file", {"path": f"/srv/{LONG_WORD}/{number}"}, f"{LONG_WORD} {number}") for number in range(9)),
    *(call(tokens=900, usd=0.01) for _ in range(9)),
    *(call(tool, error=f"Timeout: {LONG_WORD}") for _ in range(6) for tool in ("fetch_" + LONG_WORD, "search")),
]
PAGES = {
    "one run": RUN,
    "many runs": [{**step, "run_id": f"{LONG_WORD}-{run}"} for run in range(3) for step in RUN],
    "hostile": hostile_steps(),
}
TOO_SMALL = """
    return [...document.querySelectorAll("summary, a:not(.skip), label")]
        .filter(each => each.checkVisibility() && each.getBoundingClientRect().height < 44)
        .map(each => each.textContent)
"""
WIDER_THAN_THE_SCREEN = """
    document.querySelectorAll("details").forEach(each => { each.open = true });
    return [...document.querySelectorAll("body *")]
        .filter(each => !each.closest("svg") && !each.matches(".skip") && each.checkVisibility())
        .filter(each => each.getBoundingClientRect().right > document.documentElement.clientWidth + 1)
        .map(each => each.outerHTML.slice(0, 80))
"""


@pytest.fixture(scope="module")
def browser():
    options = ChromeOptions()
    options.binary_location = BROWSER
    # In a container the browser's own sandbox cannot be set up; the pages are our own.
    for argument in ("--headless=new", "--no-sandbox", "--disable-dev-shm-usage"):
        options.add_argument(argument)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    driver = webdriver.Chrome(options=options, service=Service(DRIVER))
    yield driver
    driver.quit()


@pytest.fixture(scope="module")
def pages(tmp_path_factory):
    return {name: write(tmp_path_factory.mktemp("page"), steps).as_uri() for name, steps in PAGES.items()}


def _screen(browser, name):
    width, height = SCREENS[name]
    metrics = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": name == "phone"}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)


@pytest.fixture(params=SCREENS)
def screen(browser, request):
    _screen(browser, request.param)


@pytest.fixture(params=PAGES)
def opened(browser, pages, screen, request):
    for log in ("browser", "performance"):
        browser.get_log(log)  # what earlier pages have left
    browser.get(pages[request.param])
    return browser


def test_nothing_is_wider_than_the_screen_even_when_all_is_open(opened):
    assert opened.execute_script(WIDER_THAN_THE_SCREEN) == []
    assert opened.execute_script("return document.documentElement.scrollWidth <= innerWidth")


def test_nothing_is_asked_of_the_network(opened):
    events = [json.loads(entry["message"])["message"] for entry in opened.get_log("performance")]
    asked = [event["params"]["request"]["url"] for event in events if event["method"] == "Network.requestWillBeSent"]
    assert asked == [opened.current_url]


def test_the_console_stays_empty_and_nothing_of_the_log_runs(opened):
    assert opened.get_log("browser") == []
    assert opened.execute_script("return window.pwned") is None
    assert opened.execute_script("return document.scripts.length") == 0


def test_what_can_be_touched_is_as_large_as_a_finger(opened):
    opened.execute_script("document.querySelectorAll('details').forEach(each => { each.open = true })")
    assert opened.execute_script(TOO_SMALL) == []


def test_a_step_opens_and_closes_by_the_keyboard(browser, pages, screen):
    browser.get(pages["one run"])
    browser.execute_script("document.querySelector('.stretch.stalled li summary').focus()")
    opens = "return document.activeElement.parentElement.open"
    assert not browser.execute_script(opens)
    ActionChains(browser).send_keys(Keys.ENTER).perform()
    assert browser.execute_script(opens)
    ActionChains(browser).send_keys(Keys.SPACE).perform()
    assert not browser.execute_script(opens)


def test_the_tab_key_reaches_the_skip_link_first_and_then_what_opens(browser, pages, screen):
    browser.get(pages["one run"])
    reached = []
    for _ in range(3):
        ActionChains(browser).send_keys(Keys.TAB).perform()
        reached.append(browser.execute_script("return document.activeElement.tagName"))
    assert reached == ["A", "SUMMARY", "SUMMARY"]


def test_evidence_leads_to_its_step_and_opens_what_hides_it(browser, pages, screen):
    browser.get(pages["one run"])
    browser.execute_script("document.querySelectorAll('.stretch').forEach(each => { each.open = false })")
    target = browser.execute_script("return document.querySelector('.because a').getAttribute('href')")
    browser.execute_script("location.hash = arguments[0]", target)
    assert browser.execute_script("return document.querySelector(arguments[0]).checkVisibility()", target)


def test_runs_that_nothing_stops_can_be_left_out_without_a_script(browser, tmp_path, screen):
    steps = [{**step, "run_id": "stuck"} for step in RUN] + [{**call(result="one"), "run_id": "fine"}]
    browser.get(write(tmp_path, steps).as_uri())
    browser.find_element("css selector", "label").click()
    names = "return [...document.querySelectorAll('article')].filter(each => each.checkVisibility()).length"
    assert browser.execute_script(names) == 1


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_page_follows_the_colours_that_the_reader_prefers(browser, pages, scheme):
    browser.execute_cdp_cmd(
        "Emulation.setEmulatedMedia", {"features": [{"name": "prefers-color-scheme", "value": scheme}]}
    )
    browser.get(pages["one run"])
    ground = browser.execute_script("return getComputedStyle(document.body).backgroundColor")
    assert (max(map(int, ground[4:-1].split(","))) < 128) == (scheme == "dark")
