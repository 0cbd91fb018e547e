"""The findings as JSON, for programs."""

from __future__ import annotations

import json
from typing import Any

from evaluate.findings import Findings
from evaluate.score import Score


def as_json(found: Findings) -> str:
    """One document with every number of the tables."""
    rows = [
        {
            "rule": row.name,
            "at_a_stop": row.does,
            "pooled": _score(row.pooled),
            "intercode": _score(row.apart),
            "sources": {source: _score(each) for source, each in row.sources.items()},
        }
        for row in found.rows
    ]
    halved = [{"rule": half.name, "at_a_stop": half.does, "pooled": _score(half.pooled)} for half in found.halved]
    labels = [
        {"detector": each.name, "labelled": dict(each.labelled), "marked": dict(each.marked)} for each in found.labels
    ]
    whole = {"runs": found.runs, "steps": found.steps, "rules": rows, "other_half": halved, "labels": labels}
    return json.dumps(whole, indent=2, ensure_ascii=False)


def _score(each: Score) -> dict[str, Any]:
    return {
        "good_runs": each.good,
        "good_runs_stopped": each.good_stopped,
        "rate": each.rate,
        "rate_interval": each.rate_interval,
        "failed_runs": len(each.failed),
        "steps_of_failed_runs": sum(each.failed),
        "steps_saved": each.steps_saved,
        "saving_interval": each.saving_interval,
        "steps_of_unknown_outcome": each.unjudged,
        "steps_cut_there": each.unjudged_cut,
    }
