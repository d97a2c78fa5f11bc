"""Errors that a user can read and act on."""


class BayeslocError(Exception):
    """A condition that is reported in one line, never as a traceback.

    Attributes:
        slug: The section of ``docs/messages.md`` that explains the condition.
    """

    def __init__(self, message: str, *, slug: str) -> None:
        super().__init__(f"{message} ({slug})")
        self.slug = slug


class EvidenceError(BayeslocError):
    """Evidence that the belief can't be conditioned on."""


class PatchError(BayeslocError):
    """An inspection patch that can't be made or run."""


class ExecutionError(BayeslocError):
    """A re-run that could not be started or was lost."""


class LostError(ExecutionError):
    """A place for re-runs that does not answer any more: another one may."""


class EndpointError(BayeslocError):
    """A language model that does not answer, or not in a usable way."""


class AnswerError(BayeslocError):
    """An answer of a language model that does not fit what was asked."""


class StoreError(BayeslocError):
    """A memory that can't be read or written."""


class ToolError(BayeslocError):
    """A fix tool that can't be read, trusted or run."""


class FixError(BayeslocError):
    """A fix that is not applied, or not undone."""


class ShardError(BayeslocError):
    """A record of a run that can't be read."""
