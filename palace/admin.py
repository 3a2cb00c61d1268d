"""Curators' pages in the admin: find a drawer, supersede it, end it. Views of our own, no table."""

from __future__ import annotations

import logging
from typing import Any

from django.contrib import admin, messages
from django.contrib.admin.models import CHANGE, LogEntry
from django.contrib.contenttypes.models import ContentType
from django.db import DatabaseError
from django.forms import Form
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.template.response import TemplateResponse
from django.urls import URLPattern, path, reverse
from django.views.decorators.http import require_http_methods, require_safe

from palace import paths
from palace.access import auth_context
from palace.curation import CurationService, Outcome
from palace.domain.errors import Conflict, InvalidInput, NotFound, PalaceError
from palace.domain.query import DEFAULT_LIMIT
from palace.domain.records import Drawer as Record
from palace.forms import ClosingForm, InvalidateForm, SupersedeForm, initial_of
from palace.models import Drawer
from palace.opening import curation, recall
from palace.params import as_lists, parse
from palace.recall import RecallService

paths.register()
logger = logging.getLogger(__name__)
PAGE = 50
admin.site.site_header = admin.site.site_title = "Palace: curators"
admin.site.index_title = "Curators"


@admin.register(Drawer)
class DrawerAdmin(admin.ModelAdmin):  # type: ignore[type-arg]
    """Staff may look and supersede; nothing is added, edited or deleted here."""

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def has_view_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return bool(request.user.is_active and request.user.is_staff)

    def has_module_permission(self, request: HttpRequest) -> bool:
        return self.has_view_permission(request)

    def get_urls(self) -> list[URLPattern]:
        wrap = self.admin_site.admin_view
        named = "palace_drawer_{}".format
        return [
            path("", wrap(self.list_drawers), name=named("changelist")),
            path("<name:ident>/supersede/", wrap(self.supersede), name=named("supersede")),
            path("<name:ident>/invalidate/", wrap(self.invalidate), name=named("invalidate")),
            path("<name:ident>/change/", wrap(self.show), name=named("change")),
        ]

    def list_drawers(self, request: HttpRequest) -> HttpResponse:
        """Newest drawers, or what a search finds; each with its way to the forms."""
        return _list_drawers(request, self)

    def show(self, request: HttpRequest, ident: str) -> HttpResponse:
        """The admin's log links here; a drawer is read on its page."""
        return HttpResponseRedirect(reverse("drawer", args=[ident]))

    def supersede(self, request: HttpRequest, ident: str) -> HttpResponse:
        """Replace a drawer by a new version of its text or tags."""
        return _supersede(request, ident, self)

    def invalidate(self, request: HttpRequest, ident: str) -> HttpResponse:
        """End a drawer without a replacement."""
        return _invalidate(request, ident, self)


@require_safe
def _list_drawers(request: HttpRequest, page: DrawerAdmin) -> HttpResponse:
    context: dict[str, Any] = {"title": "Drawers", "q": request.GET.get("q", "")}
    try:
        asked = parse(as_lists(request.GET), request.palace_now)  # type: ignore[attr-defined]
        reads = recall().authorized(auth_context(request))
        limit = PAGE if asked.limit == DEFAULT_LIMIT else asked.limit
        if asked.is_browse:
            found = reads.list_all_with_content(asked.scope, limit, asked.cursor, preview=True)
        else:
            found = reads.search(asked.q, filter=asked.scope, limit=limit, cursor=asked.cursor)
        context |= {"found": found, "notices": asked.notices + found.notices}
        context["older"] = found.cursor and asked.query(cursor=found.cursor)
        context["asked"] = asked
    except InvalidInput as error:
        context |= {"refused": error}
    status = 400 if "refused" in context else 200
    return _page(request, page, "list", context, status)


@require_http_methods(["GET", "HEAD", "POST"])
def _supersede(request: HttpRequest, ident: str, page: DrawerAdmin) -> HttpResponse:
    reads, writes, old = _open(request, ident)
    form = _supersede_form(request, old, reads.updated_at(ident))
    context: dict[str, Any] = {"title": "Supersede a drawer", "form": form, "drawer": old}
    if form.is_bound and form.is_valid():
        given = form.cleaned_data

        def write() -> Outcome:
            return writes.supersede(
                ident,
                given["content"],
                tags=given["tags"],
                reason=given["reason"],
                at=given["at"],
                seen=given["seen"],
            )

        return _written(request, page, "supersede", context, write)
    return _page(request, page, "supersede", context)


def _supersede_form(request: HttpRequest, old: Record, seen: int | None) -> SupersedeForm:
    if request.method != "POST":
        return SupersedeForm(old=old, initial=initial_of(old, seen))
    if "carry" not in request.POST:
        return SupersedeForm(request.POST, old=old)
    # Text typed for an older version comes along to this one, to be looked at before it is saved.
    # Its own tags stay, since whoever was first may have added them.
    typed = [tag.strip() for tag in request.POST.get("tags", "").split(",")]
    tags = dict.fromkeys([*old.tags, *(tag for tag in typed if tag)])
    kept = {name: request.POST.get(name, "") for name in ("content", "reason")}
    kept["tags"] = ", ".join(tags)
    return SupersedeForm(old=old, initial=initial_of(old, seen) | kept)


@require_http_methods(["GET", "HEAD", "POST"])
def _invalidate(request: HttpRequest, ident: str, page: DrawerAdmin) -> HttpResponse:
    reads, writes, old = _open(request, ident)
    if request.method == "POST":
        form = InvalidateForm(request.POST)
    else:
        form = InvalidateForm(initial={"seen": reads.updated_at(ident)})
    context: dict[str, Any] = {"title": "End a drawer", "form": form, "drawer": old}
    if form.is_bound and form.is_valid():
        given = form.cleaned_data

        def write() -> Outcome:
            return writes.invalidate(
                ident, reason=given["reason"], at=given["at"], seen=given["seen"]
            )

        return _written(request, page, "invalidate", context, write)
    return _page(request, page, "invalidate", context)


def _open(request: HttpRequest, ident: str) -> tuple[RecallService, CurationService, Record]:
    """The services a curator may use, and the drawer; raises Unauthorized or NotFound."""
    auth = auth_context(request)
    reads, writes = recall().authorized(auth), curation().authorized(auth)
    old = reads.get_by_id(ident)
    if old is None:
        raise NotFound(f"There is no drawer “{ident}”.", help="Search for it by its words.")
    return reads, writes, old


def _written(
    request: HttpRequest, page: DrawerAdmin, name: str, context: dict[str, Any], write: Any
) -> HttpResponse:
    """Write, log and go to the drawer that stands; a refusal shows the form as it was typed."""
    old: Record = context["drawer"]
    form: Form = context["form"]
    try:
        outcome: Outcome = write()
    except PalaceError as error:
        _refuse(form, error)
        # What stands now, to name the version that was first.
        context |= {"conflict": error, "drawer": recall().get_by_id(old.id) or old}
        return _page(request, page, name, context, error.status)
    for notice in outcome.notices:
        messages.warning(request, notice.message)
    ended = name == "invalidate"
    done = "It ended." if ended else f"Superseded by {outcome.drawer.id}."
    _log(request, old, f"{done} {form.cleaned_data['reason']}")
    messages.success(request, "The drawer has ended." if ended else "The new version stands.")
    return HttpResponseRedirect(reverse("drawer", args=[outcome.drawer.id]))


def _refuse(form: Form, error: PalaceError) -> None:
    about_time = isinstance(error, InvalidInput) or error.code.endswith("not_after_valid_from")
    if about_time and isinstance(form, ClosingForm):
        form.add_error("at", f"{error.message} {error.help}")
    elif not isinstance(error, Conflict):
        form.add_error(None, f"{error.message} {error.help}")


def _log(request: HttpRequest, old: Record, message: str) -> None:
    """The admin's own log. The palace holds who did it too, so a failure here undoes nothing."""
    assert request.user.is_authenticated  # `admin_view` let nobody else in
    try:
        LogEntry.objects.create(
            user=request.user,
            content_type=ContentType.objects.get_for_model(Drawer),
            object_id=old.id,
            object_repr=old.title[:200],
            action_flag=CHANGE,
            change_message=message,
        )
    except DatabaseError:
        logger.exception("The admin's log refused an entry about drawer %s.", old.id)
        messages.warning(request, "The write stands, but the admin's log could not take it.")


def _page(
    request: HttpRequest, page: DrawerAdmin, name: str, context: dict[str, Any], status: int = 200
) -> HttpResponse:
    shared = page.admin_site.each_context(request) | {"opts": page.opts, "app_label": "palace"}
    shared["typed"] = request.method == "POST"
    template = f"admin/palace/{name}.html"
    return TemplateResponse(request, template, shared | context, status=status)
