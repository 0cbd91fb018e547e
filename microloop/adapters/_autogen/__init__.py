"""The parts of the AutoGen adapter."""
