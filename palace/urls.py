"""Addresses of the pages."""

from __future__ import annotations

from django.urls import path

from palace.paths import register
from palace.views import drawer, health, history, jobs, overview, places, search

register()

urlpatterns = [
    path("", overview.overview, name="overview"),
    path("search/", search.search, name="search"),
    path("wings/<name:wing>/", places.wing, name="wing"),
    path("wings/<name:wing>/rooms/<name:room>/", places.room, name="room"),
    path("drawers/<name:ident>/", drawer.drawer, name="drawer"),
    path("drawers/<name:ident>/history/", history.history, name="drawer-history"),
    path("jobs/", jobs.jobs, name="jobs"),
    path("jobs/queue/", jobs.queue, name="jobs-queue"),
    path("jobs/<name:job>/<name:name>/", jobs.act, name="jobs-act"),
    path("health/", health.health, name="health"),
]
