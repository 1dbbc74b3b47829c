"""The errors of the client. Refused commands are no errors: their outcome says so."""


class CallRefused(Exception):
    """A refused request to the REST API."""

    def __init__(self, status: int, code: str, detail: str, retry_after_ms: int | None) -> None:
        super().__init__(f"{code}: {detail}" if detail else code)
        #: The HTTP status; 0 without an answer.
        self.status = status
        #: The stable code, in snake case; `unreachable` without an answer.
        self.code = code
        #: A text for people; it may be empty.
        self.detail = detail
        #: The delay until a repetition may succeed, in milliseconds.
        self.retry_after_ms = retry_after_ms


class ClientClosed(Exception):
    """The client was closed before an answer arrived, or is used after its end."""


class NotificationsLost(Exception):
    """A reader of notifications was too slow. The screen has the present state; a new reader starts from it."""


class StorageError(Exception):
    """Stored values cannot be read or written."""
