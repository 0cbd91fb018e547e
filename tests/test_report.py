"""`microloop report`: recorded runs as one page."""

from __future__ import annotations

import re
from importlib.resources import files

import pytest
from click.testing import CliRunner

from microloop.cli.app import app
from microloop.shown import visible
from report_pages import HOSTILE, Page, call, hostile_steps, write

STUCK = [call(tokens=1000, usd=0.01, at=1000 * number) for number in range(10)]
FINE = [call(result=f"page {number}") for number in range(4)]
ELEMENTS = {
    *("a", "article", "b", "bdi", "blockquote", "body", "code", "dd", "details", "div", "dl", "dt", "em", "footer"),
    *("h1", "h2", "h3", "h4", "head", "header", "html", "i", "input", "label", "li", "main", "meta", "nav", "ol", "p"),
    *("rect", "section", "span", "style", "summary", "svg", "title", "ul"),
}
ATTRIBUTES = {
    *("aria-hidden", "aria-label", "aria-labelledby", "charset", "class", "content", "height", "href", "http-equiv"),
    *("id", "lang", "name", "open", "preserveaspectratio", "role", "tabindex", "type", "viewbox", "width", "x", "y"),
}


@pytest.fixture
def report(tmp_path):
    def made(steps, *options):
        return Page(write(tmp_path, steps, *options).read_text(encoding="utf-8"))

    return made


def test_a_run_says_where_it_would_have_been_stopped_and_what_that_would_have_saved(report):
    text = report(STUCK).text
    assert "The guard would have stopped this run at step 4, for loop.repeat" in text
    assert "Stopping there would have saved, at most, 6 steps, 5,000 tokens, $0.05, 5.0 s" in text


def test_a_run_that_nothing_stops_says_so(report):
    text = report(FINE).text
    assert "The guard would not have stopped this run" in text
    assert "allowed throughout" in text
    assert "saved, at most" not in text


def test_the_figures_are_those_of_the_run(report):
    text = report([*STUCK, call("fetch", error="Timeout", tokens=500, at=70_000)]).text
    for figure in ("Steps 11", "Errors 1 of 11 calls", "Tokens 10,500", "Cost $0.10", "Duration 1 min 10 s"):
        assert figure in text
    assert "Ended ↻ stalled" in text


def test_figures_that_the_log_does_not_tell_are_not_shown(report):
    text = report(FINE).text
    assert not {"Tokens", "Cost", "Duration", "Time"} & set(text.split())


def test_repeated_calls_are_one_row_as_long_as_the_verdict_is_the_same(report):
    text = report(STUCK).text
    rows = re.findall(r"([\d–]+) search( ×\d)?", text)
    assert ("0–1", " ×2") in rows
    assert ("2–3", " ×2") in rows
    assert ("4–6", " ×3") in rows
    assert "Spent 3,000 tokens · $0.03 · 2.0 s" in text


def test_rounds_of_calls_are_one_row(report):
    text = report([call(tool, result=f"{tool} {number}") for number in range(20) for tool in ("edit", "test")]).text
    assert "0–39 edit → test ×20" in text


def test_calls_with_other_arguments_are_not_joined(report):
    text = report([call(arguments={"q": f"{number}"}, result=f"page {number}") for number in range(4)]).text
    assert "search ×" not in text.split("Timeline")[1].split("Where it went")[0].replace("Steps 0–3 search ×4", "")


def test_a_verdict_opens_to_its_evidence_and_its_feedback(report):
    page = report(STUCK)
    assert "✕ would block loop.repeat , 5 of 5 Because of steps 0 1 2 3" in page.text
    assert "search was refused: call number 5 with the same arguments" in page.text
    targets = {attributes.get("id") for _, attributes in page.elements}
    links = [link["href"].removeprefix("#") for link in page.named("a")]
    assert links
    assert set(links) <= targets


def test_arguments_and_results_open_under_their_call(report):
    text = report([call(arguments={"q": "cats", "limit": 3}, result="seven cats")]).text
    assert 'Arguments q="cats" limit=3 Result seven cats 10 B' in text


def test_what_the_log_does_not_tell_is_not_taken_for_nothing(report):
    text = report([call(result=None), call("fetch", result="")]).text
    assert "Result not in the log" in text
    assert "Result empty" in text


def test_time_goes_to_the_tool_until_the_next_step_and_waiting_for_a_person_apart(report):
    steps = [
        call("build", at=0),
        {"assistant": "done", "at": 60_000},
        {"user": "go on", "at": 660_000},
        call("test", at=661_000),
        call("test", result="other", at=665_000),
    ]
    time = report(steps).text.split("Time ")[1].split("Bytes")[0]
    assert time == (
        "11 min 5 s waiting for a person 10 min 0 s · 90 % build 1 min 0 s · 9 % "
        "test 4.0 s · 1 % the model 1.0 s · 0 % "
    )


def test_several_runs_are_listed_with_what_became_of_each(report):
    page = report([{**step, "run_id": run} for run, steps in (("stuck", STUCK), ("fine", FINE)) for step in steps])
    assert "1 of 2 runs would have been stopped" in page.text
    assert "stuck ↻ stalled 10 steps, first stop at 4" in page.text
    assert [article["class"] for article in page.named("article")] == ["run", "run passed"]


def test_only_the_wanted_run_is_shown(report):
    steps = [{**step, "run_id": run} for run in ("a", "b") for step in FINE]
    assert len(report(steps, "--run-id", "b").named("article")) == 1


def test_runs_of_several_files_are_told_apart(tmp_path):
    for name in ("one", "two"):
        write(tmp_path, FINE, name=f"{name}.jsonl")
    page = tmp_path / "both.html"
    files = [str(tmp_path / f"{name}.jsonl") for name in ("one", "two")]
    assert CliRunner().invoke(app, ["report", *files, "-o", str(page)]).exit_code == 0
    text = Page(page.read_text(encoding="utf-8")).text
    assert "one.jsonl" in text
    assert "two.jsonl" in text


def test_broken_lines_are_told_of_on_the_page_and_by_the_command(tmp_path):
    log = tmp_path / "run.jsonl"
    log.write_text('{"tool": "ls"}\n{"tool": \n')
    done = CliRunner().invoke(app, ["report", str(log), "-o", "-"])
    assert "line 2 is skipped: not JSON" in done.stderr
    assert "1 broken line of the log could not be read" in Page(done.stdout).text


def test_a_log_comes_from_standard_input():
    done = CliRunner().invoke(app, ["report", "-", "-o", "-"], input='{"tool": "ls"}')
    assert "standard input" in Page(done.stdout).text


def test_a_log_without_a_step_is_no_page(tmp_path):
    log = tmp_path / "empty.jsonl"
    log.write_text("")
    done = CliRunner().invoke(app, ["report", str(log), "-o", str(tmp_path / "page.html")])
    assert done.exit_code == 2
    assert "no step was found" in done.stderr
    assert not (tmp_path / "page.html").exists()


def test_a_place_that_cannot_be_written_is_said(tmp_path):
    log = tmp_path / "run.jsonl"
    log.write_text('{"tool": "ls"}')
    done = CliRunner().invoke(app, ["report", str(log), "-o", str(tmp_path / "no" / "page.html")])
    assert done.exit_code == 2
    assert "cannot be written" in done.stderr


def test_a_log_is_not_overwritten_by_its_page(tmp_path):
    log = tmp_path / "run.jsonl"
    log.write_text('{"tool": "ls"}')
    done = CliRunner().invoke(app, ["report", str(log), "-o", str(tmp_path / "." / "run.jsonl")])
    assert (done.exit_code, "would be overwritten" in done.stderr) == (2, True)
    assert log.read_text() == '{"tool": "ls"}'


@pytest.fixture(scope="module")
def hostile(tmp_path_factory):
    return Page(write(tmp_path_factory.mktemp("hostile"), hostile_steps()).read_text(encoding="utf-8"))


def test_nothing_of_a_log_becomes_markup(hostile):
    assert {element for element, _ in hostile.elements} <= ELEMENTS
    assert {name for _, attributes in hostile.elements for name in attributes} <= ATTRIBUTES
    assert all(link["href"].startswith("#") for link in hostile.named("a"))
    assert len(hostile.named("style")) == 1


@pytest.mark.parametrize("text", HOSTILE)
def test_what_a_log_holds_can_be_read_as_it_is(hostile, text):
    assert " ".join(visible(text).split()) in hostile.text


def test_no_control_character_reaches_the_page(hostile):
    assert not re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f]", hostile.html)


def test_secrets_that_are_called_so_are_left_out(report):
    arguments = {"api_key": "k-1234", "headers": {"Authorization": "Basic abc"}, "body": '{"password": "hunter2"}'}
    page = report([call(arguments=arguments, result='{"access_token": "t-5678"}'), call(result="Bearer t-9999-abcd")])
    assert not re.search(r"k-1234|Basic abc|hunter2|t-5678|t-9999", page.html)


def test_the_page_may_load_and_run_nothing(report):
    page = report(STUCK)
    policy = next(meta["content"] for meta in page.named("meta") if meta.get("http-equiv"))
    assert policy.startswith("default-src 'none'; style-src 'sha256-")
    assert not re.search(r"https?:|url\(|@import|src=", page.html)


def test_a_status_is_told_by_words_and_not_by_colour_alone(report):
    page = report(STUCK)
    marks = [attributes for attributes in page.named("span") if attributes.get("class", "").startswith("mark ")]
    assert marks
    assert page.text.count("↻ stalled") + page.text.count("! warning") >= 2
    strip = next(picture for picture in page.named("svg") if picture["class"] == "strip")
    assert strip["aria-label"] == "10 steps, ended stalled; first stop at step 4"


def _palettes():
    sheet = files("microloop.report").joinpath("page.css").read_text(encoding="utf-8")
    blocks = re.findall(r":root \{(.*?)\}", sheet, re.DOTALL)
    return [dict(re.findall(r"--([\w-]+): (#\w+)", block)) for block in blocks]


def _luminance(colour):
    digits = colour[1:] if len(colour) == 7 else "".join(2 * digit for digit in colour[1:])
    parts = [int(digits[place : place + 2], 16) / 255 for place in (0, 2, 4)]
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


@pytest.mark.parametrize("palette", _palettes(), ids=["light", "dark"])
@pytest.mark.parametrize(
    "colour", ["text", "dim", "link", "healthy", "warning", "stalled", "regressing", "ask", "block"]
)
@pytest.mark.parametrize("ground", ["page", "card"])
def test_texts_have_the_contrast_that_wcag_asks_for(palette, colour, ground):
    high, low = sorted((_luminance(palette[colour]), _luminance(palette[ground])), reverse=True)
    assert (high + 0.05) / (low + 0.05) >= 4.5


def _long(steps):
    """No two neighbours are the same, and the guard has something to say about most of them."""
    return [
        call(f"tool{number % 7}", {"q": f"{number * number % 997} " + "x" * 150}, "none") for number in range(steps)
    ]


def test_a_run_of_ten_thousand_steps_stays_small(report):
    assert len(report(_long(10_000)).html.encode()) < 5_000_000


def test_a_loop_of_ten_thousand_steps_is_a_few_rows(report):
    assert len(report([call()] * 10_000).named("li")) < 100
