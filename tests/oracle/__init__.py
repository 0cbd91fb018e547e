"""The loop contract a second time, in the plainest Python.

`docs/explanation/loop-contract.md` is the specification; this package follows it sentence by sentence, with lists and
dicts, no limit on memory and no care for speed. It shares nothing with the Rust core, so that a mistake must be made
twice to go unseen. `tests/test_oracle.py` runs both on random traces.
"""

from oracle.session import Session
from oracle.verdict import Verdict

__all__ = ["Session", "Verdict"]
