"""compute-sanitizer over the small models: memory errors, races, uninitialised reads, misused barriers."""

import shutil
from pathlib import Path

from _stage import ROOT, Failed, Skipped, main
from _tensors import write_columns

TOOLS = ("memcheck", "racecheck", "synccheck", "initcheck")
FOUND = 86  # exit code if it found something


def sanitizer():
    found = shutil.which("compute-sanitizer") or "/usr/local/cuda/bin/compute-sanitizer"
    if not Path(found).exists():
        raise Skipped("no compute-sanitizer on this machine")
    return found


def check(stage, program, tool, model):
    """Returns a sentence on the finding, or nothing."""
    data = stage.work / model.stem
    try:
        stage.run("train", model, "--data", data, "--batch", 37, "--max-steps", 2, "--seed", 1, "--device", stage.device,
                  wrapper=(program, "--tool", tool, "--error-exitcode", FOUND, "--print-limit", 5))
    except Failed as error:
        return f"{tool} {model.stem}: {error}"
    return None


def measure(stage):
    if not stage.on_gpu:
        raise Skipped("not on the CPU")
    program, models = sanitizer(), sorted((ROOT / "test" / "models").glob("*.mlir"))
    for model in models:
        write_columns(model, stage.work / model.stem, 80)
    for tool in TOOLS[:1] if stage.quick else TOOLS:
        for model in models:
            if stage.left() < 10:
                return
            fault = check(stage, program, tool, model)
            stage.add({"tool": tool, "model": model.stem, "fault": fault}, [[f"{tool} {model.stem}", "wrong" if fault else "clean"]],
                      [fault] if fault else [])


if __name__ == "__main__":
    main(measure, __doc__)
