"""Job queue, worker process and uploads."""
