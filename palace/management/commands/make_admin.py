"""`manage.py make_admin`: the first administrator, with a random password printed once."""

from __future__ import annotations

import secrets
from typing import Any

from django.contrib.auth import get_user_model
from django.core.management.base import BaseCommand


class Command(BaseCommand):
    help = "Make the account `admin` when there is no administrator yet."

    def handle(self, *args: Any, **options: Any) -> None:
        users = get_user_model().objects
        if users.filter(is_superuser=True).exists():
            return
        password = secrets.token_urlsafe(12)
        users.create_superuser("admin", "", password)
        self.stdout.write(f"Account: admin   Password: {password}   (shown once)")
