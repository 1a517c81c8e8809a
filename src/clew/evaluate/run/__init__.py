"""Runs of an evaluation: experiment files, plans, resumable run directories, answering by processes."""
