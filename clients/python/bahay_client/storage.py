"""The storage of values between runs. All of them are secret."""

import json
import os
import tempfile
from pathlib import Path
from typing import Protocol

from .errors import StorageError
from .gen.bahay_client import StoredKey

_NAMES = {
    StoredKey.DEVICE: "device",
    StoredKey.SEED: "seed",
    StoredKey.SESSION: "session",
    StoredKey.TABLE: "table",
}


class Storage(Protocol):
    """A store of the client's values, such as the keystore of the platform."""

    def load(self) -> dict[StoredKey, str]:
        """Returns the stored values. Raises `StorageError` if they cannot be read."""
        ...

    def store(self, key: StoredKey, value: str | None) -> None:
        """Stores a value, or removes it. It must be durable on return. Raises `StorageError` if it cannot be."""
        ...


class MemoryStorage:
    """Values that end with the process, as for tests: each run is another guest."""

    def __init__(self) -> None:
        self._values: dict[StoredKey, str] = {}

    def load(self) -> dict[StoredKey, str]:
        return dict(self._values)

    def store(self, key: StoredKey, value: str | None) -> None:
        if value is None:
            self._values.pop(key, None)
        else:
            self._values[key] = value


class FileStorage:
    """Values in a JSON file that only its owner may read (mode 0600). One client at a time may use a file."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self._path = Path(path).expanduser()
        self._values: dict[str, str] = {}

    def load(self) -> dict[StoredKey, str]:
        try:
            values = json.loads(self._path.read_text("utf-8"))
        except FileNotFoundError:
            values = {}
        except (OSError, ValueError) as error:
            raise StorageError(f"{self._path} cannot be read: {error}") from error
        if not isinstance(values, dict) or not all(isinstance(value, str) for value in values.values()):
            raise StorageError(f"{self._path} is no file of stored values")
        self._values = values
        return {key: values[name] for key, name in _NAMES.items() if name in values}

    def store(self, key: StoredKey, value: str | None) -> None:
        values = {name: kept for name, kept in self._values.items() if name != _NAMES[key]}
        if value is not None:
            values[_NAMES[key]] = value
        try:
            self._replace(json.dumps(values))
        except OSError as error:
            raise StorageError(f"{self._path} cannot be written: {error}") from error
        self._values = values

    def _replace(self, text: str) -> None:
        """Replaces the file as a whole, so that a crash leaves the old one or the new one."""
        # The file of mkstemp is readable by its owner only.
        descriptor, written = tempfile.mkstemp(dir=self._path.parent, prefix=f".{self._path.name}.")
        try:
            with os.fdopen(descriptor, "w", encoding="utf-8") as file:
                file.write(text)
                file.flush()
                os.fsync(file.fileno())
            os.replace(written, self._path)
        except BaseException:
            os.unlink(written)
            raise
