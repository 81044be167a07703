"""Errors a person can act on.

SextantError
├── InputError        the request cannot be read: a question, a filter, a file, a setting
├── WorkspaceError    the workspace cannot be used: locked, made by another model, damaged
└── BackendError      a model or server did not do its part; trying again may help
    └── ReplyError    a model replied without the JSON object it was asked for
"""

from __future__ import annotations

import re

# Up to the last @ of a host: a password may hold others.
_USER = re.compile(r"(?<=://)[^\s/?#]*@")


def without_passwords(text: str) -> str:
    """Return a text whose web addresses have no user and no password, as it may be shown and kept.

    >>> without_passwords("see https://ann:secret@example.org/plan")
    'see https://example.org/plan'
    """
    return _USER.sub("", text)


class SextantError(Exception):
    """A failure with its remedy.

    The message names the thing and the value. `help` says what to do, `retryable` whether the same call may succeed
    later. With `values`, both are templates that these fill in. The terminal and the log print English; a page fills in
    the translation of `template` and `cure`. docs/list_messages.py finds them if they are written out as literals.
    Addresses in message or values have no passwords: errors are printed, logged and kept.
    """

    def __init__(self, message: str, *, help: str = "", retryable: bool = False, **values: object) -> None:
        values = {name: _without_passwords(value) for name, value in values.items()}
        message = message if values else without_passwords(message)
        super().__init__(message.format(**values) if values else message)
        self.template, self.cure, self.values = message, help, values
        self.help = help.format(**values) if values else help
        self.retryable = retryable

    def __str__(self) -> str:
        message = super().__str__()
        return f"{message} {self.help}".strip()


def _without_passwords(value: object) -> object:
    """Return a value as an error may hold it: numbers keep their kind, for the template formats them."""
    if not isinstance(value, str | Exception):
        return value
    shown = without_passwords(str(value))
    return value if shown == str(value) else shown


class InputError(SextantError):
    """Input that cannot be used."""


class WorkspaceError(SextantError):
    """The workspace cannot be used as it is."""


class BackendError(SextantError):
    """A model or server did not do its part."""


class ReplyError(BackendError):
    """A model replied with something else than the JSON object it was asked for."""
