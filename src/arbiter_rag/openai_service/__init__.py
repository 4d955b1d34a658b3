"""How an OpenAI-compatible service is reached; shared by the judge and the embedder."""
