#!/usr/bin/env python3
"""The page of mp-view-graph, in headless Chromium: the example before and after autocast, its whole step, a step of more
than a thousand nodes, and names that are markup. The page loads nothing; its script runs, and adds the buttons for the
size of the pictures."""

import re
import shutil
import subprocess
import time

from _acceptance import example, finish, options
from _browser import Faults, Page, check_pictures, open_page

HOSTILE = r"<script>document.title='owned'</script>\22'><img src=x onerror=alert(1)>&amp;]]></title></style>"
FORBIDDEN = {"img", "iframe", "object", "embed", "link", "base", "form", "input", "image", "use", "foreignobject", "a"}
STEP = "mp-specialize{batch=128},mp-autocast{record},mp-autodiff,mp-loss-scale,mp-optimizer{total-steps=9},mp-predicate-step"
BUTTONS = 3


def draw(arguments, module, page, passes=""):
    """Seconds that mp-opt took."""
    start = time.monotonic()
    subprocess.run([arguments.tools / "mp-opt", module, f"--mp-view-graph=file={page} passes={passes}", "-o", "/dev/null"],
                   check=True)
    return time.monotonic() - start


def deep_module(path, layers):
    """A residual network of dense layers."""
    state, body = [], []
    for i in range(layers):
        state.append(f"mp.variable @fc{i}.weight : tensor<64x64xf32> = #mp.init<kaiming_uniform>")
        body.append(f"""%w{i} = mp.read @fc{i}.weight : tensor<64x64xf32>
  %l{i} = mp.linear %h{i}, %w{i} : tensor<128x64xf32>, tensor<64x64xf32>
  %r{i} = mp.relu %l{i} : tensor<128x64xf32>
  %h{i + 1} = mp.add %r{i}, %h{i} : tensor<128x64xf32>, tensor<128x64xf32>""")
    text = "\n  ".join(body)
    path.write_text("\n".join(state) + f"""
func.func @loss(%h0: tensor<128x64xf32>, %label: tensor<128xui8>) -> tensor<f32> {{
  {text}
  %loss = mp.cross_entropy %h{layers}, %label : tensor<128x64xf32>, tensor<128xui8>
  return %loss : tensor<f32>
}}
mp.scaler @scaler {{preset = "torch"}}
mp.train @step of @loss autocast(<dtype = f16>) scaler(@scaler) {{ mp.minimize result(0) {{optimizer = #mp.adamw<lr = 0.1>}} }}
""")


def check_page(arguments, faults, name, path, texts):
    """Checks that hold for every page; returns the page as Chromium has it."""
    source = path.read_text()
    faults.expect(not re.search(r"https?://|url\(|@import", source), f"{name}: the page names an address")
    dom = Page(open_page(arguments, path, "--dump-dom"))
    faults.expect(not dom.loads, f"{name}: the page would load or run {dom.loads[:3]}")
    found = FORBIDDEN & {tag for tag, _ in dom.elements}
    faults.expect(not found, f"{name}: the page has elements {sorted(found)}")
    faults.expect(dom.count("script") == 1, f"{name}: the page has {dom.count('script')} scripts, expected one")
    faults.expect(dom.count("button", "zoom") == BUTTONS, f"{name}: the script added {dom.count('button')} buttons")
    # The browser makes the written elements of it: it repaired nothing, so nothing was broken.
    written, read = [[tag for tag, attributes in page.elements if tag not in ("button", "tbody")
                      and attributes.get("class") != "zooms"] for page in (Page(source), dom)]
    faults.expect(written == read, f"{name}: Chromium reads other elements than were written")
    for text in texts:
        faults.expect(text in dom.text(), f"{name}: the page does not say '{text}'")
    check_pictures(arguments, faults, f"graph-{name}", path, ((1600, 1800), (500, 1800)))
    return dom


def main():
    arguments = options(__doc__)
    folder = arguments.work / "graph"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    faults = Faults()

    page = folder / "autocast.html"
    draw(arguments, example(arguments), page, "mp-autocast{record}")
    dom = check_page(arguments, faults, "autocast", page, ("9 casts as text", "listed under allow", "@loss", "was f32 → f32"))
    faults.expect(dom.count("g", "cast") == 10 and dom.count("g", "changed") == 6,
                  f"autocast: {dom.count('g', 'cast')} casts and {dom.count('g', 'changed')} changed ops, expected 10 and 6")

    page = folder / "step.html"
    draw(arguments, example(arguments), page, STEP)
    check_page(arguments, faults, "step", page, ("backward (new)", "update", "adamw", "write fc1.weight"))
    page = folder / "kernels.html"
    draw(arguments, example(arguments), page, "mp-train-pipeline{batch=128 total-steps=9}")
    check_page(arguments, faults, "kernels", page, ("linear relu", "@derive"))

    deep, page = folder / "deep.mlir", folder / "deep.html"
    deep_module(deep, 40)
    seconds = draw(arguments, deep, page, STEP)
    dom = check_page(arguments, faults, "deep", page, ("fc39.weight",))
    faults.expect(dom.count("g", "node") > 1000, f"deep: {dom.count('g', 'node')} nodes, expected more than 1,000")
    faults.expect(seconds < 4, f"deep: the page took {seconds:.1f} s, expected about 1")
    print(f"{dom.count('g', 'node')} nodes: {seconds:.2f} s, {page.stat().st_size / 1024:.0f} KiB")

    hostile, page = folder / "hostile.mlir", folder / "hostile.html"
    hostile.write_text(f'''module @"{HOSTILE}" {{
  mp.variable @"{HOSTILE}" : tensor<2xf32> = #mp.init<ones>
  func.func @"f{HOSTILE}"(%x: tensor<2xf32> {{mp.name = "{HOSTILE}"}}) -> (tensor<2xf32> {{mp.name = "y{HOSTILE}"}}) {{
    %w = mp.read @"{HOSTILE}" : tensor<2xf32> loc("{HOSTILE}":1:2)
    %y = mp.add %x, %w : tensor<2xf32>, tensor<2xf32>
    return %y : tensor<2xf32>
  }}
}}
''')
    draw(arguments, hostile, page)
    check_page(arguments, faults, "hostile", page, (HOSTILE.replace(r"\22", '"'),))
    finish(faults)


if __name__ == "__main__":
    main()
