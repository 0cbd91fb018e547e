"""The parts of the Pydantic AI adapter."""
