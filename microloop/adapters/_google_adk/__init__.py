"""Google ADK: what the plugin and the callbacks of an agent share."""
