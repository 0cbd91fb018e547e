"""The parts of the adapter for the Microsoft Agent Framework."""
