#!/usr/bin/env python3
"""The page of mp-run report, in headless Chromium: a run of 400 steps and one of 400,000, every file of a run there or
not, and names that are markup. The page asks for nothing from the network, and Chromium, which can reach nothing,
shows its text and its pictures. Nothing that a name says becomes an element or runs."""

import json
import random
import re
import shutil
import subprocess
import time

from _acceptance import example, finish, options, ran
from _browser import Faults, Page, check_pictures, open_page

HOSTILE = "<script>document.title='owned'</script>\"'><img src=x onerror=alert(1)>&amp;]]>--></title></style>"
# Elements that the page never has; <a> and <meta> are checked by their content.
FORBIDDEN = {"script", "img", "iframe", "object", "embed", "link", "base", "form", "input", "image", "use", "foreignobject"}


def write_lines(path, objects):
    path.write_text("".join(json.dumps(item, separators=(",", ":")) + "\n" for item in objects))


def long_run(run, steps):
    """Metrics of a made-up run: the first steps are skipped until the scale fits, then one in 2,000 is; a loss is not
    finite a few times, and one step's is a spike."""
    generator, scale, since = random.Random(7), 2.0 ** 24, 0
    run.mkdir(parents=True)
    skipped = 0
    with open(run / "metrics.jsonl", "w") as file:
        for step in range(1, steps + 1):
            overflows = scale > 2 ** 16 or since == 2000
            skipped += overflows
            loss = 0.3 + 2 / (1 + step / 3000) + generator.gauss(0, 0.05)
            loss = {250_001: 7.25}.get(step, None if step % 100_000 == 0 else round(loss, 6))
            file.write(json.dumps({"step": step, "loss": loss, "scale": scale, "skipped": overflows,
                                   "lr": round(1e-3 * (1 - step / steps), 9), "grad_norm": abs(generator.gauss(1, 0.2)),
                                   "samples_per_second": 40000 + generator.randrange(999),
                                   "accuracy": min(1, step / steps)}) + "\n")
            scale, since = (scale / 2, 0) if overflows else (scale * 2 if since == 1999 else scale, since + 1)
    return skipped


def ledger(name, steps):
    """Lines of a ledger of which half of the elements are normal, and some are anything else."""
    counts = {"zero": 100, "flushed": 40, "subnormal": 60, "normal": 280, "near_overflow": 10, "overflow": 5, "nonfinite": 5}
    exponents = {str(e): 20 for e in range(-45, -25)}
    gradient = {"of": name, "source": name, "loss": 0, "number": 1, "result": 0, "type": "f16", "elements": 500,
                "largest": 0.125, "exponents": exponents, "advice": {"scale": 8192, "text": name}, **counts}
    return [{"step": step, "scale": 1024, "records": 128, "gradients": [gradient] * 3, "all": {**counts, "exponents": exponents},
             "advice": {"scale": 8192, "text": f"a scale of 8192 suits {name}"}} for step in steps]


def finding(name):
    value = {"name": name, "nonfinite": 3, "elements": 640, "least": -2.5, "largest": None}
    return {"step": 17, "where": "forward", "op": name, "source": name, "text": name, "result": value, "operands": [value],
            "samples": name}


def hostile_run(run):
    """Every text that a run folder can hold is markup."""
    run.mkdir(parents=True)
    write_lines(run / "metrics.jsonl", [{"step": step, "loss": 1 / step, "scale": 2.0 ** (step % 7), "skipped": step % 9 == 0,
                                         "lr": 0.1, "grad_norm": step, HOSTILE: step} for step in range(1, 41)])
    write_lines(run / "ledger.jsonl", ledger(HOSTILE, range(1, 4)))
    write_lines(run / "non-finite.jsonl", [finding(HOSTILE)])
    value = {"name": HOSTILE, "source": HOSTILE, "where": HOSTILE, "type": HOSTILE}
    (run / "values.json").write_text(json.dumps({"step": 40, "values": [value]}))
    names = {key: HOSTILE for key in ("module", "file", "recipe", "precision", "policy", "scaler", "device")}
    (run / "summary.json").write_text(json.dumps({**names, "steps": 40, "train_loss": 0.5, f"test_{HOSTILE}": 0.25}))
    value = {"bytes": 4096, "summary": HOSTILE, "source": HOSTILE, "first_step": 2, "last_step": 5}
    (run / "plan.json").write_text(json.dumps({
        "module": HOSTILE, "target": HOSTILE, "arch": HOSTILE, "bytes": {HOSTILE: 8192, "total": 8192}, "notes": {HOSTILE: HOSTILE},
        "peak": {"function": HOSTILE, "step": 3, "steps": 9, "bytes": 4096, "summary": HOSTILE, "source": HOSTILE, "values": [value]}}))
    cast = {"operand": 0, "from": HOSTILE, "to": "f16", "shared": True, "bytes": 12}
    op = {"op": HOSTILE, "source": HOSTILE, "category": HOSTILE, "why": HOSTILE, "runs_in": HOSTILE, "casts": [cast]}
    (run / "casts.json").write_text(json.dumps([{"function": HOSTILE, "policy": HOSTILE, "casts": 1, "cast_bytes": 12, "ops": [op]}]))


def report(arguments, run):
    """(page, seconds)"""
    start = time.monotonic()
    page = run.parent / f"{run.name}.html"
    subprocess.run([arguments.tools / "mp-run", "report", run, "--out", page], stdout=subprocess.DEVNULL, check=True)
    return page, time.monotonic() - start


def check_page(arguments, faults, name, path, texts):
    """Checks that hold for every page; returns the page as Chromium has it."""
    source = path.read_text()
    faults.expect(not re.search(r"https?://|url\(|@import", source), f"{name}: the page names an address")
    dom = Page(open_page(arguments, path, "--dump-dom"))
    faults.expect(not dom.loads, f"{name}: the page would load or run {dom.loads[:3]}")
    found = FORBIDDEN & {tag for tag, _ in dom.elements}
    faults.expect(not found, f"{name}: the page has elements {sorted(found)}")
    # The browser makes the written elements of it: it repaired nothing, so nothing was broken.
    tags = [[tag for tag, _ in page.elements if tag != "tbody"] for page in (Page(source), dom)]
    faults.expect(tags[0] == tags[1], f"{name}: Chromium reads other elements than were written")
    for text in texts:
        faults.expect(text in dom.text(), f"{name}: the page does not say '{text}'")
    check_pictures(arguments, faults, f"report-{name}", path, ((1100, 2400), (500, 2400)))
    return dom


def main():
    arguments = options(__doc__)
    folder = arguments.work / "report"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    faults = Faults()

    short = folder / "short"
    ran([str(word) for word in (arguments.tools / "mp-run", "train", example(arguments), "--data", arguments.data, "--batch", 128,
                                "--precision", "fp16", "--max-steps", 400, "--device", "cpu", "--out", short)])
    page, _ = report(arguments, short)
    dom = check_page(arguments, faults, "short", page, (
        "fashion_mnist_mlp", "No step was skipped.", "mp.linear", "precision fp16", "scaler torch", "ledger.jsonl",
        "listed under allow", "activations", "alive in step", "test accuracy"))
    faults.expect(dom.count("path", "line") >= 3 and dom.count("rect", "f16") and dom.count("rect", "memory") > 5,
                  "short: a picture is missing")

    skipped = long_run(folder / "long", 400_000)
    write_lines(folder / "long" / "ledger.jsonl", ledger("mp.linear", range(1000, 400_000, 1000)))
    page, seconds = report(arguments, folder / "long")
    dom = check_page(arguments, faults, "long", page, (
        "400,000", f"{skipped} steps skipped", "not finite: 4 steps", "least loss to the greatest", "to 7.25 in 400,000 steps",
        "summary.json", "plan.json", "casts.json", "mp-run train FILE", "a scale of 8192 suits mp.linear"))
    # Each skipped step is counted by a tick of the loss chart, and by one of the scale's.
    ticked = sum(int(re.search(r"(\d+) of|skipped", tip).group(1) or 1)
                 for tip in re.findall(r'class="skip"[^>]*><title>[^:]*: ([^<]*)</title>', page.read_text()))
    faults.expect(ticked == 2 * skipped, f"long: the ticks stand for {ticked} skipped steps, expected twice {skipped}")
    faults.expect(page.stat().st_size < 1 << 20, f"long: the page has {page.stat().st_size} bytes, expected less than 1 MiB")
    faults.expect(seconds < 4, f"long: the page took {seconds:.1f} s, expected about 1")
    print(f"400,000 steps: {seconds:.2f} s, {page.stat().st_size / 1024:.0f} KiB")

    hostile = folder / "<script>document.title=1<"  # and the folder's own name
    hostile_run(hostile)
    page = folder / "hostile.html"
    subprocess.run([arguments.tools / "mp-run", "report", hostile, "--out", page], stdout=subprocess.DEVNULL, check=True)
    dom = check_page(arguments, faults, "hostile", page, (re.sub(r"\s+", " ", HOSTILE),))
    shown = dom.text().count(HOSTILE)
    faults.expect(shown >= 35, f"hostile: {shown} names are shown as they are, expected 35 at least")
    finish(faults)


if __name__ == "__main__":
    main()
