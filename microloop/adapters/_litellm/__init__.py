"""The guard in a LiteLLM proxy, which sees what a model proposes and, one request later, what came of it."""
