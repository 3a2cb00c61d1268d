"""What the admin knows of the palace: a model without a table, for permissions and its log."""

from __future__ import annotations

from django.db import models


class Drawer(models.Model):
    """Stands for the drawers of the palace, which do not live in Django's database."""

    class Meta:
        managed = False
        default_permissions = ("view",)
        permissions = (("supersede_drawer", "Can supersede drawers"),)
        verbose_name = "drawer"
        verbose_name_plural = "drawers"
