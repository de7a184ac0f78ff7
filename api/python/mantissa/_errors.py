"""What the library has to say."""


class Error(RuntimeError):
    """A failure of the library: a mistake in a module, an array that does not fit, a damaged file.

    The message is that of the C++ library. It names what was given and what is expected.
    """


class Note(UserWarning):
    """A warning of the library, such as one about a module that it compiles. See the module `warnings`."""
