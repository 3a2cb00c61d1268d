"""What the server says about itself: health, status, settings, and the time line."""

from __future__ import annotations

import tomllib
from functools import cache

from django.conf import settings
from django.http import HttpRequest
from ninja import Router

from palace import opening
from palace.api.asking import PLACE, SCOPE, TIME, described, now_of, read, service
from palace.api.errors import invalid
from palace.api.jobs import job_json
from palace.api.serial import Json, instant, notices_json
from palace.domain.errors import Notice
from palace.domain.query import Scope
from palace.domain.time import DAY, SECOND, Temporal
from palace.embedding import desk
from palace.opening import palace_address, showing_demo

router = Router(tags=["about"])

SETTINGS = (
    "MEMCASTLE_BIND",
    "MEMCASTLE_DATA_DIR",
    "MEMCASTLE_PALACE_URL",
    "MEMCASTLE_PALACE_NAMESPACE",
    "MEMCASTLE_PALACE_DATABASE",
    "MEMCASTLE_SEARCH_TIMEOUT_MS",
    "MEMCASTLE_CHRONOLOGY",
    "MEMCASTLE_MODE",
    "MEMCASTLE_REQUIRE_LOGIN",
)
BUCKETS = {
    "auto": 0,
    "minute": 60 * SECOND,
    "hour": 3600 * SECOND,
    "day": DAY,
    "week": 7 * DAY,
    "four_weeks": 28 * DAY,
    "quarter": 91 * DAY,
    "year": 365 * DAY,
}
MOST_BUCKETS = 2_000


@router.get("/health", auth=None, openapi_extra=described(), operation_id="health")
def health(request: HttpRequest) -> Json:
    """The server answers; nothing else is touched."""
    return {"status": "ok"}


@router.get("/status", openapi_extra=described(), operation_id="status")
def status(request: HttpRequest) -> Json:
    """Version, store, and how much the palace holds."""
    asked = read(request)
    palace, now = service(request), now_of(request)
    current = palace.palace(Scope(Temporal.as_of(now), stale="include", asked_at=now))
    total = palace.count(Scope(Temporal.history(), stale="include"))
    return {
        "version": version(),
        "now": instant(now),
        "store": {"kind": palace_address().url.partition(":")[0], "demo": showing_demo()},
        "mode": settings.MEMCASTLE_MODE,
        "counts": {
            "wings": len(current.wings),
            "rooms": sum(len(wing.rooms) for wing in current.wings),
            "drawers": total,
            "drawers_now": current.total,
        },
        "embedding": _embedding(total),
        "jobs": [job_json(one) for one in desk.listed(opening.store(), 5)],
        "notices": notices_json(asked.notices),
    }


def _embedding(total: int) -> Json:
    """What embeds, and how much of the palace it has reached."""
    provider = opening.embedder()
    if provider is None:
        return {"provider": None, "embedded": 0, "drawers": total}
    counted = desk.coverage(opening.store(), provider.model)
    return {
        "provider": settings.MEMCASTLE_EMBED_PROVIDER,
        "model": provider.model,
        "embedded": sum(done for done, _ in counted.values()),
        "drawers": total,
    }


@router.get("/config", openapi_extra=described(), operation_id="config")
def config(request: HttpRequest) -> Json:
    """The settings in effect, from an explicit list that holds no secret."""
    asked = read(request)
    service(request)
    values = {name: getattr(settings, name) for name in SETTINGS}
    values["MEMCASTLE_DATA_DIR"] = str(values["MEMCASTLE_DATA_DIR"])
    values["MEMCASTLE_PALACE_URL"] = without_user(palace_address().url)
    return {"settings": values, "notices": notices_json(asked.notices)}


@router.get(
    "/timeline",
    openapi_extra=described("bucket", *PLACE, *SCOPE, *TIME),
    operation_id="timeline",
)
def timeline(request: HttpRequest) -> Json:
    """What began and ended per bucket, from the first memory of the scope to now."""
    asked = read(request, also=("bucket",))
    palace, now = service(request), now_of(request)
    changes = palace.changes(asked.scope)
    step, told = _step(request.GET.get("bucket", ""), changes.first, now)
    bar = palace.time_bar(asked.scope, now, step)
    notices = (*asked.notices, *palace.unknown_names(asked.scope), *told)
    return {
        "buckets": [
            {
                "from": instant(one.start),
                "until": instant(one.until),
                "began": one.began,
                "ended": one.ended,
                "valid": one.valid,
            }
            for one in bar.buckets
        ],
        "unit": bar.unit,
        "first": instant(bar.first),
        "last": instant(bar.last),
        "total": len(changes.began),
        "valid": palace.count(asked.scope),
        "notices": notices_json(notices),
    }


def _step(name: str, first: int | None, now: int) -> tuple[int | None, tuple[Notice, ...]]:
    """The asked width of a bucket; a coarser one, told, when there would be too many."""
    name = name.strip()
    if name and name not in BUCKETS:
        raise invalid("bucket", f"“bucket” is “{name[:80]}”.", f"One of {', '.join(BUCKETS)}.")
    step = BUCKETS.get(name) or None
    if step is None or first is None or (now - first) // step < MOST_BUCKETS:
        return step, ()
    message = f"Buckets of one {name} would be more than {MOST_BUCKETS}; wider ones were taken."
    return None, (Notice("memcastle::input::clamped", message),)


@cache
def version() -> str:
    """The product's version, from the one place that names it."""
    with open(settings.BASE_DIR / "pyproject.toml", "rb") as file:
        return str(tomllib.load(file)["project"]["version"])


def without_user(url: str) -> str:
    """An address without the name and password that it may carry."""
    scheme, slashes, rest = url.partition("://")
    host, slash, path = rest.partition("/")
    return scheme + slashes + host.rpartition("@")[2] + slash + path
