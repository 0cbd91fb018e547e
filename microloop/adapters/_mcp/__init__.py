"""What the adapters for MCP share: whose call a request is, and what a result says."""
