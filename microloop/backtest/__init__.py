"""What a policy would have done to thousands of recorded runs: the unit of work is a pure function over one run."""

from microloop.backtest.judge import RunResult, judge_run
from microloop.backtest.runs import Problem, RecordedRun, files_in, read_file

__all__ = ["Problem", "RecordedRun", "RunResult", "files_in", "judge_run", "read_file"]
