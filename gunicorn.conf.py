"""How the explorer is served. One process: the embedded store belongs to one."""

from __future__ import annotations

import os
from typing import Any

bind = os.environ.get("MEMCASTLE_BIND") or "127.0.0.1:8000"
workers = 1  # a second worker could not open the store
worker_class = "gthread"
threads = 8
preload_app = False  # a fork with an open store hangs
max_requests = 0  # a restarting worker would overlap with the one that holds the lock
timeout = 120
graceful_timeout = 10
limit_request_line = 0  # long names make long URLs; above 64 kB we answer 414 ourselves
control_socket_disable = True
accesslog = None
loglevel = "warning"


def post_worker_init(worker: Any) -> None:
    """Tell commands where the palace is served, and start embedding, after the fork."""
    from palace import opening, serving

    serving.announce(f"http://{worker.cfg.bind[0]}")
    opening.start_serving()


def worker_exit(server: Any, worker: Any) -> None:
    """Close the palace and take the notice back."""
    from palace import opening, serving

    serving.withdraw()
    opening.close_stores()
