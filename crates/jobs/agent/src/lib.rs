//! The agent job: restores memories and serves ledgers over MCP.
