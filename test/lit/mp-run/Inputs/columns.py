"""Random data for a module's arguments: columns.py MODULE FOLDER (test/models/README.md)."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[4] / "bench" / "gpu"))
from _tensors import write_columns  # noqa: E402

write_columns(Path(sys.argv[1]), Path(sys.argv[2]), samples=80)
