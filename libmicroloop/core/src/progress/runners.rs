//! What the usual test runners say at the end of their output: how many tests failed.

use memchr::memmem;

/// The summary stands at the end. Only where there is one, a runner that says in many places what failed is read as a whole.
const READ: usize = 4 * 1024;

/// A test runner whose summary is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Runner {
    Pytest,
    Cargo,
    Go,
    Jest,
    Unittest,
    Ctest,
}

/// How many tests failed in the run that this output shows; `None` if it shows none, or if the tests could not be run: that
/// is no better than tests that fail.
pub(super) fn failures(output: &[u8]) -> Option<(Runner, u64)> {
    let tail = output.get(output.len().saturating_sub(READ)..).unwrap_or(output);
    if !may_be_summary(tail) {
        return None;
    }
    READERS.iter().find_map(|(runner, read)| read(tail, output).map(|failed| (*runner, failed)))
}

/// Most outputs are no test run, and this is read after every call: a quick look spares them the readers.
fn may_be_summary(tail: &[u8]) -> bool {
    match tail.len() {
        ..SHORTEST => false,
        // Here to prepare five searches takes longer than they do.
        SHORTEST..SHORT => starts(tail).any(|here| MARKS.iter().any(|mark| here.starts_with(mark))),
        SHORT.. => MARKS.iter().any(|mark| has(tail, mark)),
    }
}

/// One of them stands in every summary; `k  \t` is the end of Go's `ok`, a rarer letter.
const MARKS: [&[u8]; 5] = [b"passed", b"failed", b"FAIL", b"k  \t", b"Ran "];

/// Wherever a mark may begin.
fn starts(text: &[u8]) -> impl Iterator<Item = &[u8]> {
    let upper = memchr::memchr2_iter(b'F', b'R', text);
    let lower = memchr::memchr3_iter(b'p', b'f', b'k', text);
    let second_fits = |here: &&[u8]| matches!(here.get(1), Some(b'a' | b'A' | b' '));
    upper.chain(lower).filter_map(|at| text.get(at..)).filter(second_fits)
}

/// `1 passed in 0s`
const SHORTEST: usize = 14;
const SHORT: usize = 256;

/// Reads the end of an output; the whole output comes second.
type Reader = fn(&[u8], &[u8]) -> Option<u64>;

const READERS: &[(Runner, Reader)] = &[
    (Runner::Cargo, cargo),
    (Runner::Jest, jest),
    (Runner::Ctest, ctest),
    (Runner::Unittest, unittest),
    (Runner::Pytest, pytest),
    (Runner::Go, go),
];

/// `test result: FAILED. 5 passed; 2 failed; 0 ignored`, once for each binary.
fn cargo(tail: &[u8], whole: &[u8]) -> Option<u64> {
    find(tail, b"test result: ")?;
    sum(lines(whole).filter(|line| has(line, b"test result: ")).map(|line| number_before(line, b" failed")))
}

/// `Tests:       1 failed, 2 passed, 3 total`
fn jest(tail: &[u8], _: &[u8]) -> Option<u64> {
    let line = lines(tail).rfind(|line| line.starts_with(b"Tests:") && has(line, b" total"))?;
    Some(number_before(line, b" failed").unwrap_or(0))
}

/// `50% tests passed, 2 tests failed out of 4`
fn ctest(tail: &[u8], _: &[u8]) -> Option<u64> {
    let line = lines(tail).rfind(|line| has(line, b"% tests passed"))?;
    number_before(line, b" tests failed out of").or_else(|| number_before(line, b" test failed out of"))
}

/// `Ran 5 tests in 0.001s`, and below it `OK` or `FAILED (failures=1, errors=2)`.
fn unittest(tail: &[u8], whole: &[u8]) -> Option<u64> {
    lines(tail).find(|line| line.starts_with(b"Ran ") && has(line, b" test"))?;
    let end = lines(tail).rfind(|line| line.starts_with(b"OK") || line.starts_with(b"FAILED ("))?;
    let count = |what: &[u8]| number_after(end, what).unwrap_or(0);
    let loaded = find(whole, b"unittest.loader._FailedTest").is_none();
    loaded.then(|| count(b"failures=").saturating_add(count(b"errors=")))
}

/// `2 failed, 3 passed in 0.12s`, with or without a rule of `=` around it. Errors alone mean that nothing was run.
fn pytest(tail: &[u8], _: &[u8]) -> Option<u64> {
    let line = lines(tail).rfind(|line| has(line, b" in ") && (has(line, b" passed") || has(line, b" failed")))?;
    let (failed, passed) = (number_before(line, b" failed"), number_before(line, b" passed"));
    let errors = number_before(line, b" error").unwrap_or(0);
    failed.or(passed.map(|_| 0)).map(|failed| failed.saturating_add(errors))
}

/// `--- FAIL: TestName (0.00s)` for each, `FAIL` or `ok` and the package for all.
fn go(tail: &[u8], whole: &[u8]) -> Option<u64> {
    lines(tail).find(|line| line.starts_with(b"ok  \t") || line.starts_with(b"FAIL\t"))?;
    let failed = lines(whole).filter(|line| line.starts_with(b"--- FAIL: ")).count();
    let packages = || lines(whole).filter(|line| line.starts_with(b"FAIL\t"));
    let built = !packages().any(|line| line.ends_with(b" failed]"));
    if built { u64::try_from(failed.max(packages().count())).ok() } else { None }
}

fn sum(counts: impl Iterator<Item = Option<u64>>) -> Option<u64> {
    counts.flatten().fold(None, |sum, count| Some(sum.unwrap_or(0_u64).saturating_add(count)))
}

fn lines(text: &[u8]) -> impl DoubleEndedIterator<Item = &[u8]> {
    text.split(|byte| *byte == b'\n').map(<[u8]>::trim_ascii)
}

fn has(line: &[u8], words: &[u8]) -> bool {
    find(line, words).is_some()
}

fn find(line: &[u8], words: &[u8]) -> Option<usize> {
    memmem::find(line, words)
}

/// The number that stands right before some words.
fn number_before(line: &[u8], words: &[u8]) -> Option<u64> {
    let before = line.get(..find(line, words)?)?;
    let digits = before.iter().rev().take_while(|byte| byte.is_ascii_digit()).count();
    number(before.get(before.len().saturating_sub(digits)..)?)
}

/// The number that stands right after some words.
fn number_after(line: &[u8], words: &[u8]) -> Option<u64> {
    let after = line.get(find(line, words)?.saturating_add(words.len())..)?;
    let digits = after.iter().take_while(|byte| byte.is_ascii_digit()).count();
    number(after.get(..digits)?)
}

fn number(digits: &[u8]) -> Option<u64> {
    core::str::from_utf8(digits).ok()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::{Runner::*, *};

    fn read(output: &str) -> Option<(Runner, u64)> {
        failures(output.as_bytes())
    }

    #[test]
    fn each_runner_is_read() {
        assert_eq!(read("FAILED test_a.py::test_b\n==== 2 failed, 3 passed in 0.12s ===="), Some((Pytest, 2)));
        assert_eq!(read("1 failed, 2 errors in 3.00s"), Some((Pytest, 3)));
        assert_eq!(read("===== 5 passed in 0.03s ====="), Some((Pytest, 0)));
        assert_eq!(read("test result: FAILED. 5 passed; 2 failed; 0 ignored; 0 measured"), Some((Cargo, 2)));
        assert_eq!(
            read("--- FAIL: TestA (0.00s)\n--- FAIL: TestB (0.01s)\nFAIL\nFAIL\texample/pkg\t0.01s"),
            Some((Go, 2))
        );
        assert_eq!(read("ok  \texample/pkg\t0.01s"), Some((Go, 0)));
        assert_eq!(read("Tests:       1 failed, 2 passed, 3 total\nTime: 1 s"), Some((Jest, 1)));
        assert_eq!(read("Tests:       3 passed, 3 total"), Some((Jest, 0)));
        assert_eq!(read("Ran 5 tests in 0.001s\n\nFAILED (failures=1, errors=2)"), Some((Unittest, 3)));
        assert_eq!(read("Ran 5 tests in 0.001s\n\nOK"), Some((Unittest, 0)));
        assert_eq!(read("50% tests passed, 2 tests failed out of 4"), Some((Ctest, 2)));
    }

    #[test]
    fn the_binaries_of_a_cargo_workspace_are_added_up() {
        let line = |failed: u64| alloc::format!("test result: FAILED. 5 passed; {failed} failed; 0 ignored\n");
        assert_eq!(read(&(line(2) + &line(0) + &line(3))), Some((Cargo, 5)));
    }

    #[test]
    fn colours_change_nothing() {
        assert_eq!(
            read("\u{1b}[31m\u{1b}[1m2 failed\u{1b}[0m, \u{1b}[32m3 passed\u{1b}[0m in 0.12s"),
            Some((Pytest, 2))
        );
    }

    #[test]
    fn prose_is_no_summary() {
        assert_eq!(read("the bill was passed in parliament"), None);
        assert_eq!(read("login failed in 3 cases"), None);
        assert_eq!(read("OK"), None);
        assert_eq!(read(""), None);
    }

    #[test]
    fn tests_that_could_not_be_run_are_no_progress() {
        assert_eq!(read("=== 1 error in 0.12s ==="), None);
        assert_eq!(read("FAIL\texample/pkg [build failed]\nFAIL"), None);
        let import = "ERROR: a (unittest.loader._FailedTest.a)\nRan 1 test in 0.000s\n\nFAILED (errors=1)";
        assert_eq!(read(import), None);
    }

    #[test]
    fn failures_that_stand_all_over_a_long_log_are_all_counted() {
        let log = alloc::format!("--- FAIL: TestA (0.00s)\n{}", "x\n".repeat(10_000));
        assert_eq!(read(&(log + "--- FAIL: TestB (0.00s)\nFAIL\nFAIL\texample/pkg\t0.01s")), Some((Go, 2)));
        let log = alloc::format!("test result: FAILED. 5 passed; 2 failed;\n{}", "x\n".repeat(10_000));
        assert_eq!(read(&(log + "test result: FAILED. 5 passed; 1 failed;")), Some((Cargo, 3)));
    }

    #[test]
    fn a_summary_at_the_end_of_a_long_log_is_found() {
        let log = "x".repeat(1_000_000) + "\n=== 7 failed in 1.00s ===";
        assert_eq!(read(&log), Some((Pytest, 7)));
    }
}
