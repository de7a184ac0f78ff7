"""Prints a module that nests: `nested.py KIND COUNT`, where a KIND is a key of KINDS."""

import sys

BODY = "func.func @f(%x: tensor<4xf32>) -> tensor<4xf32> {\n  return %x : tensor<4xf32>\n}\n"


def attribute(opening, inner, closing):
    return lambda n: "module attributes {t.a = " + opening * n + inner + closing * n + "} {\n" + BODY + "}\n"


def aliases(sigil, first, following):
    def text(n):
        lines = [f"{sigil}a0 = {first}"]
        lines += [f"{sigil}a{i} = " + following.replace("*", f"{sigil}a{i - 1}") for i in range(1, n)]
        return "\n".join(lines) + f"\nmodule attributes {{t.a = {sigil}a{n - 1}}} {{\n{BODY}}}\n"
    return text


def locations(n):
    lines = ['#loc0 = loc("f":1:1)'] + [f'#loc{i} = loc(callsite(#loc{i - 1} at "g":1:1))' for i in range(1, n)]
    return "\n".join(lines) + f"\nmodule {{\n{BODY}}} loc(#loc{n - 1})\n"


KINDS = {
    "brackets": attribute("[", "", "]"),
    "open": lambda n: BODY + "[" * n,
    "dictionaries": attribute("{a = ", "1", "}"),
    "tuples": attribute("tuple<", "i32", ">"),
    "functions": attribute("() -> (", "i32", ")"),
    "affine": lambda n: "module attributes {t.a = affine_map<(d0) -> (" + "(" * n + "d0" + ")" * n + ")>} {}\n",
    "minus": lambda n: "module attributes {t.a = affine_map<(d0) -> (" + "-" * n + "d0)>} {}\n",
    "terms": lambda n: "module attributes {t.a = affine_map<(d0) -> (d0" + " + d0 mod 7" * n + ")>} {}\n",
    "modules": lambda n: "module {\n" * n + BODY + "}\n" * n,
    "generic": lambda n: '"builtin.module"() ({\n' * n + BODY + "}) : () -> ()\n" * n,
    "locations": lambda n: BODY.rstrip() + " loc(" + "callsite(" * n + '"a"' + ' at "b")' * n + ")\n",
    "aliases": aliases("#", "[1]", "[*]"),
    "location-aliases": locations,
    "doubled": aliases("!", "tuple<i32>", "tuple<*, *>"),
}

if __name__ == "__main__":
    sys.stdout.write(KINDS[sys.argv[1]](int(sys.argv[2])))
