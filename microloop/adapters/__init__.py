"""One module for each framework, imported only by name. They translate: event to call, verdict to native refusal."""
