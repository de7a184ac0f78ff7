#!/usr/bin/env python3
"""Gives the tests an NVRTC where the machine has none: NVIDIA's wheel, of a pinned version and hash.

Does nothing where one is found already.
"""

import argparse
import ctypes
import os
import subprocess
import sys
import zipfile
from pathlib import Path

VERSION = "13.0.88"
HASH = "sha256:ad9b6d2ead2435f11cbb6868809d2adeeee302e9bb94bcf0539c7a40d80e8575"


def is_installed():
    """Whether the search of runtime/cuda/Libraries.h would find one, in the places that matter to a test."""
    folders = [Path(os.environ[name], *sub) for name in ("MP_CUDA_PATH", "CUDA_HOME", "CUDA_PATH") if os.environ.get(name)
               for sub in ((), ("lib64",), ("lib",))] + [Path("/usr/local/cuda/lib64")]
    for file in ("libnvrtc.so.13", "libnvrtc.so.12"):
        for path in [*(folder / file for folder in folders), file]:
            try:
                ctypes.CDLL(str(path))
                return True
            except OSError:
                pass
    return False


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path, help="where to unpack it")
    folder = parser.parse_args().folder
    library = folder / "nvidia" / "cu13" / "lib" / "libnvrtc.so.13"
    if is_installed() or library.exists():
        return
    folder.mkdir(parents=True, exist_ok=True)
    requirements = folder / "requirements.txt"
    requirements.write_text(f"nvidia-cuda-nvrtc=={VERSION} --hash={HASH}\n")
    result = subprocess.run([sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--require-hashes",
                             "--only-binary", ":all:", "--dest", folder, "-r", requirements], check=False)
    if result.returncode:
        sys.exit("there is no NVRTC on this machine, and its wheel could not be downloaded")
    for wheel in folder.glob("*.whl"):
        zipfile.ZipFile(wheel).extractall(folder)
        wheel.unlink()
    if not library.exists():
        sys.exit(f"the wheel holds no {library.relative_to(folder)}")


if __name__ == "__main__":
    main()
