"""What the LangChain and the LangGraph adapter share."""
