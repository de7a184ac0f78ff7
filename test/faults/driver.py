"""The CUDA driver and NVRTC, missing, odd or failing. The emulator of test/emulator is the device."""

import json
import re
import subprocess
import time

from _context import sha, step_of, temporaries
from _existing import lit, unit
from _registry import Absent, Severity, fault, require, shown

KEPT = "checkpoint.safetensors"


def device(context, **settings):
    """The environment in which --device cuda is the emulated one."""
    return {"MP_CUDA_PATH": str(context.build / "test" / "emulator" / "lib"), "MP_CACHE_DIR": str(context.work / "cache"),
            **{f"MP_EMULATOR_{name.upper()}": value for name, value in settings.items()}}


def stub(context, name, file, source):
    """A folder with a library of this source."""
    folder = context.work / name
    folder.mkdir()
    (folder / "stub.c").write_text(source)
    cache = (context.build / "CMakeCache.txt").read_text()
    compiler = re.search(r"^CMAKE_C_COMPILER:\w+=(.*)$", cache, re.MULTILINE)[1]
    done = subprocess.run([compiler, "-shared", "-fPIC", "-w", "-o", folder / file, folder / "stub.c"], capture_output=True, check=False)
    if done.returncode:
        raise Absent(f"{compiler} makes no library: {done.stderr.decode()[:200]}")
    return folder


# Every function of the driver, which returns a code.
DRIVER = "int cuInit(unsigned flags) { return %d; }\nint cuGetErrorName(int code, const char **name) { *name = 0; return 1; }\n"
OLD_NVRTC = "int nvrtcVersion(int *major, int *minor) { *major = 11; *minor = 8; return 0; }\n"


@fault(18, "no driver, no NVRTC, or others", Severity.CRASH,
       "auto says why no device is used and takes the CPU; a requested device is an error with exit code 3; every call of "
       "driver and NVRTC may fail",
       by=[lit("mp-run/cuda.test"), lit("mp-run/exit-codes.test"), unit("cuda-libraries-test"), unit("cuda-device-test"),
           unit("cuda-failures-test", "CudaFailures.EveryCallInTurn", "CudaFailures.DevicesThatCannotBeUsed")])
def stubs_instead_of_libraries(context):
    """an empty file, a text, a library without functions, one whose cuInit fails with 20 codes, and an NVRTC of CUDA 11.8"""
    context.net()
    driver, nvrtc = "libcuda.so.1", "libnvrtc.so.13"
    functions = sorted(set(re.findall(r"F\((cu\w+),", (context.source / "runtime" / "cuda" / "Driver.h").read_text())))
    rest = "".join(f"int {name}(void) {{ return 999; }}\n" for name in functions if name not in ("cuInit", "cuGetErrorName"))
    folders = []
    for name, content in (("empty", b""), ("text", b"hello"), ("header", b"\x7fELF" + bytes(60))):
        (context.work / name).mkdir()
        (context.work / name / driver).write_bytes(content)
        folders.append(context.work / name)
    folders.append(stub(context, "nothing", driver, "int nothing;\n"))
    folders += [stub(context, f"fails-{code}", driver, DRIVER % code + rest)
                for code in (1, 2, 3, 4, 34, 36, 46, 100, 101, 200, 201, 209, 214, 222, 304, 600, 700, 719, 801, 803, 999)]
    for folder in folders:
        environment = {"MP_CUDA_PATH": str(folder)}
        said = context.refused(*context.training("--max-steps", 1, "--device", "cuda"), code=3, environment=environment,
                               says="mp-run: error: device cuda is not available: ")
        require(said.count("\n") == 1, f"{folder.name}: the message has {said.count(chr(10))} lines: {said}")
        context.succeeds(*context.training("--max-steps", 1, "--device", "auto"), environment=environment)
        context.succeeds("mp-run", "info", environment=environment)
    old = stub(context, "old", nvrtc, OLD_NVRTC)
    (old / driver).symlink_to(context.build / "test" / "emulator" / "lib" / driver)
    said = context.refused(*context.training("--max-steps", 1, "--device", "cuda"), code=3, environment={"MP_CUDA_PATH": str(old)})
    require("nvrtc" in said.lower(), said)
    context.succeeds(*context.training("--max-steps", 1, "--device", "auto"), environment={"MP_CUDA_PATH": str(old)})
    return f"{len(folders) + 1} libraries"


@fault(19, "a kernel that NVRTC refuses", Severity.CRASH,
       "the message names the kernel, its ops with their places and the file that its source was written to, and has NVRTC's "
       "log; nothing else runs in its place",
       by=[unit("cuda-compile-pool-test", "CudaCompilePool.ARefusedKernelIsNamedWithItsPlacesAndTheLog",
                "CudaCompilePool.TheSourceOfARefusedKernelIsKeptBesideTheCache")])
def each_compilation_fails(context):
    """each of the first 8 kernels is refused in turn, on a device that auto has chosen too"""
    context.net()
    for nth in range(1, 9):
        for name in ("cuda", "auto"):
            said = context.refused(*context.training("--max-steps", 1, "--device", name, "--out", context.work / "run"), code=3,
                                   environment={**device(context, fail=f"nvrtcCompileProgram:{nth}:6"), "MP_CACHE_DIR": "off"})
            require(re.search(r"error: cannot compile kernel 'k_[0-9a-f]+' \(.*\).*NVRTC", said), f"compilation {nth}: {said[-400:]}")
            require(not (context.work / "run" / KEPT).exists(), "a checkpoint was saved")
    return "8 kernels"


shown(20, "CUDA that no compiler takes", Severity.CRASH,
      "NVRTC and clang compile what is generated for every op, model, precision and architecture",
      by=[lit("codegen/cuda-one-source.mlir"), lit("codegen/cuda-stages.mlir"), unit("cuda-gate-test")])


@fault(54, "a device that fails in a run", Severity.LOSS,
       "the run ends within 5 s with exit code 3, the step, and CUDA's error; nothing is launched after it, and the last "
       "checkpoint is kept",
       by=[unit("cuda-failures-test", "CudaFailures.AKernelThatFailsIsFoundAtTheNextWait"), lit("mp-run/cuda.test"),
           unit("emulator-faults-test")])
def errors_in_the_middle(context):
    """launches, waits and copies fail in the middle of a run with 7 errors: illegal address, ECC, lost context, ..."""
    context.net()
    start, log = context.work / "start", context.work / "log"
    context.train("--device", "cuda", "--checkpoint-every", 2, "--max-steps", 4, "--out", start, environment=device(context))
    tried = 0
    for call in ("cuGraphLaunch", "cuEventSynchronize", "cuMemcpyHtoDAsync", "cuEventRecord"):
        for code in (700, 719, 214, 201, 46, 702, 999):
            run = context.work / f"run-{call}-{code}"
            log.unlink(missing_ok=True)
            begin = time.monotonic()
            said = context.refused(*context.training("--device", "cuda", "--checkpoint-every", 2, "--max-steps", 40, "--out", run), code=3,
                                   environment=device(context, fail=f"{call}:9:{code}", log=str(log)), says=f"({code})")
            require(time.monotonic() - begin < 5, f"{call} with {code} takes {time.monotonic() - begin:.1f} s")
            require(re.search(r"error: run \d+ of 'step' at batch 8 on cuda:0", said) or "error: " in said, said[-400:])
            calls = [line.split()[0] for line in log.read_text().splitlines() if line.startswith("cu")]
            failed = [at for at, name in enumerate(calls) if name == call][8]
            require("cuGraphLaunch" not in calls[failed + 1:], f"{call} with {code}: a graph is launched after the error")
            require(step_of(run / KEPT) >= 2 and context.verify(run).returncode == 0 and not temporaries(run), f"{call} with {code}: no checkpoint")
            tried += 1
    # It goes on from there to the bits of a run without faults.
    context.train("--device", "cuda", "--resume", run, "--out", run, "--max-steps", 8, environment=device(context))
    context.train("--device", "cuda", "--resume", start, "--out", start, "--max-steps", 8, environment=device(context))
    require(sha(run / KEPT) == sha(start / KEPT), "the resumed run is another one")
    require(json.loads((run / "summary.json").read_text())["device"].startswith("cuda"), "not on the device")
    return f"{tried} errors"
