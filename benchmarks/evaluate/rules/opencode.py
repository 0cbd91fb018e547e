"""opencode: three identical calls in a row.

Source: the page "Permissions" of opencode.ai (`doom_loop`), and sst/opencode (now anomalyco/opencode),
packages/opencode/src/session/processor.ts at 31e22f6: the same tool and input, as JSON text, 3 times in a row; the
third asks for permission. The code looks at the calls of one answer of the model only; here, as in its description, all
calls are looked at.
"""

from __future__ import annotations

import json
from collections.abc import Sequence

from evaluate.corpus import Step
from evaluate.rule import Rule
from evaluate.rules.streaks import first_streak


def stop(steps: Sequence[Step], threshold: int) -> int | None:
    """The call that is asked about."""
    return first_streak(((step.tool, json.dumps(step.arguments)) for step in steps), threshold)


RULE = Rule("opencode", stop, threshold=3, does="asks a person")
