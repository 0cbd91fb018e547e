"""The parts of the OpenAI Agents SDK adapter."""
