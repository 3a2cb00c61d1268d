"""Settings: one file, everything that varies comes from the environment."""

from __future__ import annotations

from pathlib import Path

from memcastle_site.environment import boolean, choice, integer, secret_key, text, words

BASE_DIR = Path(__file__).resolve().parent.parent

MEMCASTLE_BIND = text("MEMCASTLE_BIND", "127.0.0.1:8000")
MEMCASTLE_DATA_DIR = Path(text("MEMCASTLE_DATA_DIR", str(BASE_DIR / "database" / "data"))).resolve()
MEMCASTLE_PALACE_URL = text("MEMCASTLE_PALACE_URL", "")
MEMCASTLE_PALACE_NAMESPACE = text("MEMCASTLE_PALACE_NAMESPACE", "memcastle")
MEMCASTLE_PALACE_DATABASE = text("MEMCASTLE_PALACE_DATABASE", "palace")
MEMCASTLE_PALACE_USER = text("MEMCASTLE_PALACE_USER", "")
MEMCASTLE_PALACE_PASSWORD = text("MEMCASTLE_PALACE_PASSWORD", "")
MEMCASTLE_SEARCH_TIMEOUT_MS = integer("MEMCASTLE_SEARCH_TIMEOUT_MS", 5000, least=0)
MEMCASTLE_CHRONOLOGY = boolean("MEMCASTLE_CHRONOLOGY", True)
MEMCASTLE_MODE = choice("MEMCASTLE_MODE", "full", ("full", "read_only", "disabled"))
MEMCASTLE_REQUIRE_LOGIN = boolean("MEMCASTLE_REQUIRE_LOGIN", False)

MEMCASTLE_EMBED_PROVIDER = text("MEMCASTLE_EMBED_PROVIDER", "")
MEMCASTLE_EMBED_COMMAND = text("MEMCASTLE_EMBED_COMMAND", "")
MEMCASTLE_EMBED_COMMAND_ENV = text("MEMCASTLE_EMBED_COMMAND_ENV", "")
MEMCASTLE_EMBED_URL = text("MEMCASTLE_EMBED_URL", "")
MEMCASTLE_EMBED_MODEL = text("MEMCASTLE_EMBED_MODEL", "")
MEMCASTLE_EMBED_API_KEY = text("MEMCASTLE_EMBED_API_KEY", "")
MEMCASTLE_EMBED_DIMENSIONS = integer("MEMCASTLE_EMBED_DIMENSIONS", 0, least=0)
MEMCASTLE_EMBED_NATIVE_DIMENSION = integer("MEMCASTLE_EMBED_NATIVE_DIMENSION", 0, least=0)
MEMCASTLE_EMBED_QUERY_PREFIX = text("MEMCASTLE_EMBED_QUERY_PREFIX", "")
MEMCASTLE_EMBED_PASSAGE_PREFIX = text("MEMCASTLE_EMBED_PASSAGE_PREFIX", "")
MEMCASTLE_EMBED_PASSAGES = boolean("MEMCASTLE_EMBED_PASSAGES", True)
MEMCASTLE_EMBED_PASSAGE_CHARS = integer("MEMCASTLE_EMBED_PASSAGE_CHARS", 1000, least=50)
MEMCASTLE_EMBED_PASSAGE_OVERLAP = integer("MEMCASTLE_EMBED_PASSAGE_OVERLAP", 100, least=0)
MEMCASTLE_RESIDENT_MAX_MB = integer("MEMCASTLE_RESIDENT_MAX_MB", 4096, least=1)

DEBUG = boolean("MEMCASTLE_DEBUG", False)
SECRET_KEY = secret_key("MEMCASTLE_SECRET_KEY", MEMCASTLE_DATA_DIR / "secret_key")
ALLOWED_HOSTS = words("MEMCASTLE_ALLOWED_HOSTS", ["localhost", "127.0.0.1", "[::1]"])

INSTALLED_APPS = [
    "django.contrib.admin",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "whitenoise.runserver_nostatic",
    "django.contrib.staticfiles",
    "django.contrib.humanize",
    "django_htmx",
    "palace",
]

MIDDLEWARE = [
    "django.middleware.security.SecurityMiddleware",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "django.middleware.gzip.GZipMiddleware",
    "palace.middleware.LongUrlMiddleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "csp.middleware.CSPMiddleware",
    "django_htmx.middleware.HtmxMiddleware",
    "palace.middleware.PalaceMiddleware",
]

ROOT_URLCONF = "memcastle_site.urls"
WSGI_APPLICATION = "memcastle_site.wsgi.application"
APPEND_SLASH = True

TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [BASE_DIR / "templates"],
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
            ],
        },
    }
]

DATABASES = {
    "default": {
        "ENGINE": "django.db.backends.sqlite3",
        "NAME": MEMCASTLE_DATA_DIR / "accounts.sqlite3",
        "OPTIONS": {
            "transaction_mode": "IMMEDIATE",
            "init_command": "PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL;",
        },
    }
}
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"

AUTH_PASSWORD_VALIDATORS = [
    {"NAME": "django.contrib.auth.password_validation.MinimumLengthValidator"},
    {"NAME": "django.contrib.auth.password_validation.CommonPasswordValidator"},
]
# A drawer holds at most 4 MiB of text, which JSON may write in up to six times as many bytes.
DATA_UPLOAD_MAX_MEMORY_SIZE = 32 * 1024 * 1024
LOGIN_URL = "admin:login"

LANGUAGE_CODE = "en"
TIME_ZONE = "UTC"
USE_I18N = False
USE_TZ = True

STATIC_URL = "static/"
STATICFILES_DIRS = [BASE_DIR / "static"]
STATIC_ROOT = None  # nothing is collected: files are served from where they lie
# Files are served from where they lie: no collectstatic step between a clone and a page.
WHITENOISE_USE_FINDERS = True
WHITENOISE_AUTOREFRESH = DEBUG

CONTENT_SECURITY_POLICY = {
    "DIRECTIVES": {
        "default-src": ["'self'"],
        "base-uri": ["'self'"],
        "form-action": ["'self'"],
        "frame-ancestors": ["'none'"],
        "object-src": ["'none'"],
    }
}
X_FRAME_OPTIONS = "DENY"
SECURE_CONTENT_TYPE_NOSNIFF = True
SECURE_REFERRER_POLICY = "same-origin"
SESSION_COOKIE_HTTPONLY = True
SESSION_COOKIE_SAMESITE = "Lax"
CSRF_COOKIE_SAMESITE = "Lax"

LOGGING = {
    "version": 1,
    "disable_existing_loggers": False,
    "formatters": {"line": {"format": "{asctime} {levelname} {name} {message}", "style": "{"}},
    "handlers": {"console": {"class": "logging.StreamHandler", "formatter": "line"}},
    "root": {"handlers": ["console"], "level": "WARNING"},
    "loggers": {"palace": {"level": "INFO"}},
}
