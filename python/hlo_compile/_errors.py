"""The exceptions."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Diagnostic:
    """A message of the compiler about the text. Notes follow the diagnostic that they belong to."""
    severity: str  #: "note", "remark", "warning" or "error"
    code: str  #: label of the violated rule, as "dot_c3" (`hlo-compile --explain=dot_c3`), or ""
    message: str
    file: str  #: "" if the message has no place
    line: int  #: from 1; 0 if the message has no place
    column: int


class Error(Exception):
    """Base of CompileError and RunError."""


class CompileError(Error):
    """The text does not compile. As a string: what hlo-compile prints, with source line and caret.

    >>> import hlo_compile as hc
    >>> try:
    ...     hc.compile("HloModule m\\nENTRY e {\\n  ROOT x = f32[2] negate(y)\\n}\\n")
    ... except hc.CompileError as error:
    ...     print(error.diagnostics[0].line, error.diagnostics[0].severity)
    3 error
    """

    def __init__(self, status: str, log: str, diagnostics: tuple[Diagnostic, ...]):
        super().__init__(log.rstrip("\n") or status)
        self.status = status  #: name of the hlo_status, as "HLO_INVALID_ARGUMENT"
        self.log = log  #: all diagnostics as text
        self.diagnostics = diagnostics

    def __reduce__(self):
        return CompileError, (self.status, self.log, self.diagnostics)


class RunError(Error):
    """A call failed. Wrong types and shapes of arguments are TypeError and ValueError instead."""

    def __init__(self, status: str, message: str):
        super().__init__(f"{status}: {message}" if message else status)
        self.status = status  #: name of the hlo_status, as "HLO_ERR_MISSING"
        self.message = message

    def __reduce__(self):
        return RunError, (self.status, self.message)


class CompileWarning(UserWarning):
    """A warning of the compiler about a text that compiles."""
