#!/usr/bin/env python3
"""Writes what every model of the repository compiles to, one file each, so that two builds can be compared:

    scripts/program-texts.py --translate build/release/bin/mp-translate --out before
    ... change the compiler, build it ...
    scripts/program-texts.py --translate build/release/bin/mp-translate --out after
    diff -r before after
"""

import argparse
import itertools
import subprocess
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
FOLDERS = ["examples", "test/models", "bench/models"]
PRECISIONS = ["fp32", "tf32", "fp16", "bf16", "fp8"]
GOALS = ["train", "evaluate", "diagnose"]
# The texts printed for each target: the Program of both, and the kernels' source if there is one.
FORMS = [("cpu", "--mp-to-program"), ("cuda", "--mp-to-program"), ("cuda", "--mp-to-cuda")]


def write(translate, out, model, precision, goal, target, form, batch, accumulate):
    command = [translate, form, f"--mp-target={target}", f"--mp-precision={precision}", f"--mp-goal={goal}",
               f"--mp-batch={batch}", f"--mp-accumulate={accumulate}", "--mp-total-steps=1000", model]
    if target == "cpu":
        command.append("--mp-arch=znver3")  # the same kernels on every machine
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    name = "-".join([model.replace("/", "-"), precision, goal, target, form.rsplit("-", 1)[1], f"b{batch}", f"a{accumulate}"])
    (out / name).write_text(done.stdout + (f"error: {done.stderr}" if done.returncode else ""))
    return done.returncode == 0


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--translate", type=lambda path: str(Path(path).resolve()), required=True)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--jobs", type=int, default=2)
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)

    models = sorted(str(path.relative_to(ROOT)) for folder in FOLDERS for path in (ROOT / folder).rglob("*.mlir"))
    cases = [(model, precision, goal, *form, batch, 1)
             for model, precision, goal, form, batch in itertools.product(models, PRECISIONS, GOALS, FORMS, [64, 7])]
    cases += [(model, "fp16", "train", *form, 64, 3) for model, form in itertools.product(models, FORMS)]
    with ThreadPoolExecutor(options.jobs) as pool:
        compiled = sum(pool.map(lambda case: write(options.translate, options.out, *case), cases))
    print(f"{len(cases)} texts of {len(models)} models, {compiled} of them compiled")


if __name__ == "__main__":
    main()
