"""The WSGI application. Opens nothing: the palace opens at the first query, after any fork."""

from __future__ import annotations

import os

from django.core.wsgi import get_wsgi_application

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "memcastle_site.settings")
application = get_wsgi_application()
