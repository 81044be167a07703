"""Settings of a workspace: the one table of them, the file that keeps some, and which value holds."""

from __future__ import annotations

import json
import os
import tomllib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cache
from math import inf, isfinite, nan
from pathlib import Path
from typing import Any, Literal
from urllib.parse import urlsplit

from filelock import FileLock
from pydantic import TypeAdapter

from rag_engine.atomic_write import make_private, write_atomic
from rag_engine.errors import InputError
from rag_engine.installation import DATA
from rag_engine.messages import Message, without_passwords

_FILE = "settings.toml"
_TABLE = DATA / _FILE
# Who changed which entry, and when; a table of the same file.
_CHANGED = "changed"
_REMOVE = "`sextant settings unset {name}` removes it."

SettingKind = Literal["text", "choice", "number", "whole", "names", "address", "model"]
SettingEffect = Literal["question", "run", "index", "restart"]
Origin = Literal["environment", "workspace", "default"]
SettingValue = str | int | float | tuple[str, ...]


# What a number that is set has to be.
_FROM, _WHOLE_FROM = "{shown} is no number from {least:g} on.", "{shown} is no whole number from {least:g} on."
_WITHIN = "{shown} is no number from {least:g} to {most:g}."
_WHOLE_WITHIN = "{shown} is no whole number from {least:g} to {most:g}."


@dataclass(frozen=True, slots=True)
class Setting:
    """One setting of data/settings.toml; without a `default`, `unset` says in words which value counts."""

    name: str
    group: str
    label: str
    kind: SettingKind
    effect: SettingEffect
    explanation: str
    default: SettingValue | None = None
    unset: str = ""
    choices: tuple[str, ...] = ()
    least: float = -inf
    most: float = inf
    only: str = ""
    secret: bool = False

    @property
    def variable(self) -> str:
        """Name of its environment variable."""
        return f"SEXTANT_{self.name.upper()}"

    def read(self, given: object) -> SettingValue:
        """Return a given value in the setting's kind; InputError if it cannot be used."""
        given = given.strip() if isinstance(given, str) else given
        hidden = self.secret or (self.kind == "address" and "@" in str(given))
        shown = self.name if hidden else f"{self.name}={given!r}"
        if self.kind == "choice":
            if given not in self.choices:
                raise InputError(
                    "{shown} is not known.", help="Use {choices}.", shown=shown, choices=", ".join(self.choices)
                )
            return str(given)
        if self.kind in ("number", "whole"):
            return self._number(given, shown)
        if self.kind == "names":
            parts = given.split(",") if isinstance(given, str) else given
            if not isinstance(parts, list | tuple) or not all(isinstance(part, str) for part in parts):
                raise InputError("{shown} is no list of names.", help="Separate them with commas.", shown=shown)
            return tuple(part.strip() for part in parts if part.strip())
        if not isinstance(given, str) or any(ord(sign) < 32 or ord(sign) == 127 for sign in given):
            raise InputError("{shown} is no text of one line.", help="Give it in one line.", shown=shown)
        return _address(given, shown) if self.kind == "address" and given else given

    def _number(self, given: object, shown: str) -> float | int:
        try:
            value = float(given) if isinstance(given, str | int | float) and not isinstance(given, bool) else nan
        except ValueError:
            value = nan
        whole = self.kind == "whole"
        if not self.least <= value <= self.most or value == inf or (whole and not value.is_integer()):
            example = self.least if self.default is None else self.default
            raise InputError(
                (_WHOLE_FROM if whole else _FROM) if self.most == inf else (_WHOLE_WITHIN if whole else _WITHIN),
                help="Use {example:g}, for example, or do not set it.",
                shown=shown,
                least=self.least,
                most=self.most,
                example=example,
            )
        return int(value) if whole else value

    def text(self, value: SettingValue | None) -> str:
        """Return a value as people write it, without secrets and passwords; without a value, `unset`."""
        if value is None or value in ("", ()):
            return self.unset
        if self.secret:
            return "(set)"
        if isinstance(value, tuple):
            return ",".join(value)
        return without_passwords(str(value)).removesuffix(".0")


_SETTING = TypeAdapter(Setting)


@dataclass(frozen=True, slots=True)
class SettingState:
    """The value of a setting and its origin; `changed` says by whom and when, "" if not kept."""

    setting: Setting
    value: SettingValue | None
    origin: Origin
    changed: str = ""


class Settings:
    """The settings that hold for a workspace: the environment over its file over the defaults."""

    def __init__(self, stored: Mapping[str, SettingValue], changed: Mapping[str, str]) -> None:
        self._stored, self._changed = stored, changed

    def state(self, name: str) -> SettingState:
        """Return the present value and its origin; an empty variable counts as not set."""
        setting = find_setting(name)
        given = os.environ.get(setting.variable)
        if given:
            try:
                return SettingState(setting, setting.read(given), "environment")
            except InputError as error:
                raise InputError("{variable}: {error}", variable=setting.variable, error=error) from error
        if name in self._stored:
            return SettingState(setting, self._stored[name], "workspace", self._changed.get(name, ""))
        return SettingState(setting, setting.default, "default")

    def value(self, name: str, unset: Any = None) -> Any:
        """Return the value that holds, in the setting's kind; `unset` without one and without a default."""
        value = self.state(name).value
        return unset if value is None else value


@cache
def settings_table() -> dict[str, Setting]:
    """Return every setting by name, in the order of the table."""
    table: dict[str, dict[str, Any]] = tomllib.loads(_TABLE.read_text(encoding="utf-8"))
    return {name: _SETTING.validate_python({"name": name} | row) for name, row in table.items()}


def find_setting(name: str) -> Setting:
    """Return the setting of this name or environment variable; InputError if there is none."""
    wanted = name.lower().removeprefix("sextant_")
    found = settings_table().get(wanted)
    if found is None:
        raise InputError("There is no setting {name!r}.", help="`sextant settings` lists them.", name=name)
    return found


def environment_value(name: str) -> str:
    """Return the value of a setting that only the environment has, or its default."""
    return str(Settings({}, {}).value(name, ""))


def settings_file(workspace: Path) -> Path:
    """Return the path of the file that keeps a workspace's settings; it need not be there."""
    return workspace / _FILE


def settings_stamp(workspace: Path) -> tuple[int, int]:
    """Return a stamp that differs between two states of a workspace's settings; (0, 0) without any."""
    try:
        found = settings_file(workspace).stat()
    except FileNotFoundError:
        return 0, 0
    return found.st_mtime_ns, found.st_ino


def read_settings(workspace: Path) -> Settings:
    """Return the settings that hold for a workspace.

    InputError names the file, the entry and the remedy for an entry that is unknown, damaged or not kept in the file.
    """
    stored = _stored(settings_file(workspace))
    changed = stored.pop(_CHANGED, {})
    values = {name: _checked(workspace, name, value) for name, value in stored.items()}
    whole = changed if isinstance(changed, dict) else {}
    return Settings(values, {name: str(words) for name, words in whole.items()})


def keep_setting(workspace: Path, name: str, given: str, author: str) -> None:
    """Keep a value with the workspace, and who changed it; InputError as `allowed_value` raises it."""
    setting = find_setting(name)
    value = allowed_value(setting, given)
    with _rewriting(workspace) as (stored, changed):
        stored[setting.name] = value
        changed[setting.name] = f"{author}, {datetime.now(UTC):%Y-%m-%d %H:%M} UTC"


def allowed_value(setting: Setting, given: str) -> SettingValue:
    """Return a value that may be kept with the workspace; else InputError, as if the environment sets it."""
    if why := why_not_kept(setting):
        raise InputError("{name} cannot be changed here.", help="{why}", name=setting.name, why=why)
    value = setting.read(given)
    if value in ("", ()):
        raise InputError("{name} has no value.", help="`sextant settings unset {name}` resets it.", name=setting.name)
    _check_no_password(setting, value)
    _check_folder(setting, str(value))
    return value


def remove_setting(workspace: Path, name: str) -> None:
    """Remove a value from the workspace, so that the default holds; damaged and unknown entries too."""
    with _rewriting(workspace) as (stored, changed):
        entry = name if name in stored else find_setting(name).name
        stored.pop(entry, None)
        changed.pop(entry, None)


def drop_servers(workspace: Path) -> dict[str, str]:
    """Remove entries that name a server, or that no file may keep; return them with values as shown.

    The file may be a stranger's, whose server would get every question. Nothing holds of a file that cannot be read,
    which stays as it is.
    """
    try:
        stored = _stored(settings_file(workspace))
    except InputError:
        return {}
    table = settings_table()
    dropped = {
        name: table[name].text(str(value)) if name in table else str(value)
        for name, value in stored.items()
        if name != _CHANGED and (_names_server(table.get(name)) or not _is_plain(value))
    }
    if dropped:
        with _rewriting(workspace) as (stored, _):
            for name in dropped:
                stored.pop(name, None)
    return dropped


def _names_server(setting: Setting | None) -> bool:
    return setting is not None and (setting.kind == "address" or bool(setting.only))


@contextmanager
def _rewriting(workspace: Path) -> Iterator[tuple[dict[str, Any], dict[str, Any]]]:
    """Yield the entries of the file and their authors, and write them as the block leaves them."""
    path = settings_file(workspace)
    make_private(path.parent)
    with FileLock(path.with_suffix(".lock")):
        stored = _stored(path)
        changed = stored.pop(_CHANGED, {})
        if not isinstance(changed, dict):
            changed = {}
        yield stored, changed
        write_atomic(path, _toml(path, stored, changed).encode(), private=True)


def why_not_kept(setting: Setting) -> InputError | None:
    """Return why no value of a setting can be kept with the workspace now, with the remedy, or None."""
    if setting.only:
        return InputError("Only {variable} sets it ({why}).", variable=setting.variable, why=setting.only)
    if os.environ.get(setting.variable):
        return InputError("{variable} sets it; unset that variable to change it here.", variable=setting.variable)
    if setting.name == "openai_url" and environment_value("openai_key"):
        return InputError(
            "With SEXTANT_OPENAI_KEY only {variable} sets it: a key goes to no address that a file names.",
            variable=setting.variable,
        )
    return None


def _checked(workspace: Path, name: str, value: object) -> SettingValue:
    """Return the value of an entry of the file; InputError with the remedy if it cannot be used."""
    path = settings_file(workspace)
    setting = settings_table().get(name)
    if setting is None:
        raise InputError("{path} has an entry {name!r} that is no setting.", help=_REMOVE, path=path, name=name)
    if setting.only:
        raise InputError(
            "{path} has an entry {name!r}, which is read from {variable} alone ({only}).",
            help=_REMOVE,
            path=path,
            name=name,
            variable=setting.variable,
            only=Message(setting.only),
        )
    try:
        read = setting.read(value)
        _check_no_password(setting, read)
    except InputError as error:
        raise InputError("{path}: {error}", help=_REMOVE, path=path, error=error, name=name) from error
    return read


def _stored(path: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except (FileNotFoundError, NotADirectoryError):
        # If a file is in the place of the workspace, opening the workspace reports it.
        return {}
    except (ValueError, RecursionError, OSError) as error:
        raise InputError(
            "{path} cannot be read: {error}.", help="Correct that line, or remove the file.", path=path, error=error
        ) from error


def _toml(path: Path, stored: Mapping[str, Any], changed: Mapping[str, Any]) -> str:
    """Return entries and who changed them as TOML; it writes strings and lists as JSON does."""
    notes = {name: str(words) for name, words in changed.items() if name in stored}
    head = "# Settings of this workspace: `sextant settings`, or the Settings tab of the Admin page.\n"
    table = f"\n[{_CHANGED}]\n{_rows(path, notes)}" if notes else ""
    return head + _rows(path, stored) + table


def _rows(path: Path, entries: Mapping[str, Any]) -> str:
    rows = []
    for name, value in entries.items():
        if not _is_plain(value):
            raise InputError(
                "{path} has an entry {name!r} that is no setting.",
                help="Remove it from the file.",
                path=path,
                name=name,
            )
        rows.append(f"{json.dumps(name)} = {json.dumps(value, ensure_ascii=False)}\n")
    return "".join(rows)


def _is_plain(value: object) -> bool:
    """Return whether a value can be written back: a text, a number, or a list of texts."""
    if isinstance(value, list | tuple):
        return all(isinstance(one, str) for one in value)
    return isinstance(value, str) or (isinstance(value, int | float) and isfinite(value))


def _address(given: str, shown: str) -> str:
    """Return the address of a server, with its protocol; InputError if it is not an address."""
    address = given if "://" in given else f"http://{given}"
    try:
        found = urlsplit(address)
        right = found.scheme in ("http", "https") and bool(found.hostname) and found.port != 0
    except ValueError:
        right = False
    if not right or " " in address:
        raise InputError("{shown} is no address.", help="Use http://127.0.0.1:11434, for example.", shown=shown)
    return address


def _check_no_password(setting: Setting, value: SettingValue) -> None:
    """Raise InputError for an address with a password: a file of the workspace is no place for it."""
    if setting.kind == "address" and "@" in urlsplit(str(value)).netloc:
        raise InputError(
            "{name} has a password in it.",
            help="Only {variable} may have one.",
            name=setting.name,
            variable=setting.variable,
        )


def _check_folder(setting: Setting, value: str) -> None:
    """Raise InputError for a model by a path at which no folder is; a name may still be found elsewhere."""
    path = Path(value).expanduser()
    if setting.kind == "model" and (value.startswith((".", "~")) or path.is_absolute()):
        if not path.is_absolute():
            raise InputError(
                "{name}={value!r} is no whole path.", help="Begin it with a slash.", name=setting.name, value=value
            )
        if not path.is_dir():
            raise InputError(
                "{name}={value!r} is no folder.",
                help="Give the folder of a model, or its name.",
                name=setting.name,
                value=value,
            )
