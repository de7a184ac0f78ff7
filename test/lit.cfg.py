"""lit over test/lit: mp-opt, mp-translate and mp-run against FileCheck."""

import ctypes
import os
import shutil

import lit.formats

config.name = "Mantissa"
config.test_format = lit.formats.ShTest(execute_external=False)
config.suffixes = [".mlir", ".test"]
# Files that a test reads but does not run lie in a folder Inputs.
config.excludes = ["Inputs"]
config.test_source_root = os.path.join(config.mp_source, "test", "lit")

# --param tools=DIR: other tools than the build's, as those of the portable package.
config.mp_tools = lit_config.params.get("tools", config.mp_tools)
config.environment["PATH"] = os.pathsep.join(
    [config.mp_tools, config.llvm_tools, os.environ["PATH"]])
# No test writes to the user's cache. Many train the same networks, so what one compiled serves the others.
config.environment["MP_CACHE_DIR"] = os.path.join(config.mp_build, "test", "cache")
# Memory that a kernel reads before it is written holds NaN.
config.environment["MP_POISON"] = "1"
# Every CHECK is exact about variables unless it says otherwise.
config.environment["FILECHECK_OPTS"] = "-enable-var-scope"

config.substitutions += [
    ("%data", config.mp_data),
    ("%examples", os.path.join(config.mp_source, "examples")),
    ("%goldens", os.path.join(config.mp_source, "test", "goldens")),
    ("%source", config.mp_source),
    ("%build", config.mp_build),
    ("%plugin", config.mp_plugin),
    ("%own-pass", config.mp_own_pass),
]
# oneDNN multiplies bf16 only with AVX-512.
with open("/proc/cpuinfo") as cpuinfo:
    if "avx512bw" in cpuinfo.read():
        config.available_features.add("avx512bw")
# Some faults are those of another user.
if os.geteuid() == 0:
    config.available_features.add("root")
for feature, library in [("libomp", "libomp.so.5"), ("onednn", "libdnnl.so.2")]:
    try:
        ctypes.CDLL(library)
        config.available_features.add(feature)
    except OSError:
        pass
if shutil.which("localedef") and os.path.exists("/usr/share/i18n/locales/tr_TR"):
    config.available_features.add("localedef")
# A plugin links the shared library of the build, and so do the examples; a static program has none.
if "tools" not in lit_config.params:
    config.available_features.update(("plugin", "examples"))
