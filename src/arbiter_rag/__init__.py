"""Detectors propose passages of a document, one structured LLM call decides: roles, reasons, or "not found"."""
