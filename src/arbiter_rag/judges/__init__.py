"""One file, one judge; the only code that reaches an LLM."""
