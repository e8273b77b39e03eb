"""The version, which is that of the CMake project."""

__version__ = "0.1.0"
