"""Errors a person can act on.

SextantError
├── InputError        the request cannot be read: a question, a filter, a file, a setting
├── WorkspaceError    the workspace cannot be used: locked, made by another model, damaged
└── BackendError      a model or server did not do its part; trying again may help
    ├── ReplyError    a model replied without the JSON object it was asked for
    ├── WindowError   a prompt is longer than the model's window
    └── CutError      a server cut the prompt, and answered what was left of it
"""

from __future__ import annotations

from rag_engine.messages import Message, join_messages


class SextantError(Exception):
    """A failure with its remedy.

    `fault` names the thing and the value, `help` says what to do, `retryable` whether the same call may succeed later.
    The values fill in both; a page shows their translations.
    """

    def __init__(self, message: str, *, help: str = "", retryable: bool = False, **values: object) -> None:
        self.fault, self.help = Message(message, **values), Message(help, **values)
        self.retryable = retryable
        super().__init__(self.fault)

    @property
    def message(self) -> Message:
        """The failure with its remedy, as it is kept and shown."""
        return join_messages([self.fault, self.help])

    def __str__(self) -> str:
        return str(self.message)


class InputError(SextantError):
    """Input that cannot be used."""


class WorkspaceError(SextantError):
    """The workspace cannot be used as it is."""


class BackendError(SextantError):
    """A model or server did not do its part."""


class ReplyError(BackendError):
    """A model replied with something else than the JSON object it was asked for."""


class WindowError(BackendError):
    """A prompt is longer than the model's window.

    `window` are the tokens of the window and `counted` those of the prompt, as the server says; 0 if it does not.
    """

    def __init__(self, message: str, *, window: int, counted: int, help: str, model: str) -> None:
        super().__init__(message, help=help, window=window, model=model)
        self.window, self.counted = window, counted


class CutError(BackendError):
    """A server cut the prompt, and answered what was left of it."""
