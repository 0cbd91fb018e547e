"""The guard in the hooks of the Claude Agent SDK."""
