"""Named options, which the extension's classes have as attributes."""

from __future__ import annotations

from typing import Any, Mapping


def set_options(to: Any, known: Mapping[str, Any], function: str, given: Mapping[str, object]) -> None:
    """Sets attributes of `to`; a TypeError names an option that is not known, or that has another type."""
    for name, value in given.items():
        if name not in known:
            raise TypeError(f"{function}() got an unexpected keyword argument '{name}'")
        try:
            setattr(to, name, value)
        except TypeError:
            expected = known[name]
            raise TypeError(f"{name} is {value!r}, expected {getattr(expected, '__forward_arg__', expected)}") from None
