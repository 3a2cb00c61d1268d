"""All addresses: pages, the JSON API, the admin."""

from __future__ import annotations

from django.contrib import admin
from django.templatetags.static import static
from django.urls import include, path
from django.views.generic import RedirectView

from palace.api import urls as api


class Icon(RedirectView):
    """Browsers ask for `/favicon.ico` on pages that name no icon."""

    def get_redirect_url(self, *args: object, **kwargs: object) -> str:
        return static("palace/icon.svg")


urlpatterns = [
    path("favicon.ico", Icon.as_view(permanent=False)),
    path("api/", include(api)),
    path("admin/", admin.site.urls),
    path("", include("palace.urls")),
]

handler404 = "palace.views.errors.not_found"
handler500 = "palace.views.errors.failed"
handler403 = "palace.views.errors.forbidden"
handler400 = "palace.views.errors.bad_request"
