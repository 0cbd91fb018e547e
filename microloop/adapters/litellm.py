"""LiteLLM: a guardrail of the proxy, for agents in any language that talk to their models through it.

guardrails:
  - guardrail_name: microloop
    litellm_params:
      guardrail: microloop.adapters.litellm.MicroloopGuardrail
      mode: [pre_call, post_call]
      default_on: true
      policy: balanced
"""

from __future__ import annotations

from microloop.adapters._gate.versions import require

require("litellm")

from microloop.adapters._litellm.guardrail import MicroloopGuardrail  # noqa: E402 - the check comes first: it says more

__all__ = ["MicroloopGuardrail"]
