"""The error of this tool: one line for the person who typed the command."""


class DecoupleError(Exception):
    """What was found, what is needed and what to type, in one line; printed without a traceback."""

    def __init__(self, message: str, *, path: str = "", line: int = 0) -> None:
        """An error, at a place where one is known.

        Args:
            message: what is wrong and what helps.
            path: file that it is about, relative to the tree; empty where there is none.
            line: line in that file, from 1; 0 where there is none.
        """
        place = f"{path}:{line}: " if path and line else f"{path}: " if path else ""
        super().__init__(place + message)
        self.message = message
        self.path = path
        self.line = line
