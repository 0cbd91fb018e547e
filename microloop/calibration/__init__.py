"""A stopping rule from your own good runs, with a bound on how often it stops one that nobody has seen.

The family of rules is one policy with the counts of its loop detectors multiplied: the larger the factor, the later it
stops. A run's score is the largest factor at which it is stopped. Of exchangeable runs, the next one is as likely as
any other to have each rank among the scores; so the smallest factor that stops at most `floor(alpha * (n + 1)) - 1` of
`n` good runs stops the next one with a probability of at most `alpha` (split conformal prediction; Vovk, Gammerman and
Shafer, 2005).
"""

from microloop.calibration.choosing import Choice, TooFewRunsError, choose, runs_needed
from microloop.calibration.ladder import FACTORS, scaled
from microloop.calibration.scoring import NEVER, family, score_run

__all__ = ["FACTORS", "NEVER", "Choice", "TooFewRunsError", "choose", "family", "runs_needed", "scaled", "score_run"]
