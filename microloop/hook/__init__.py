"""`microloop hook`: the command that a coding agent runs before and after each tool call.

One short process for each event: it reads the event as JSON, brings the session back from a small store, lets the core
decide, and answers in the words of the agent that asked. An agent waits for it at every call, so nothing here imports
more than it needs: no `click`, no `pathlib`, no `Guardrail`.
"""
