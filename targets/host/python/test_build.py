"""Tests how pip builds the wheel, without a compilation, in an environment with hatchling. usage: test_build.py"""

import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

HERE = Path(__file__).resolve().parent


class Building(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def python(self, *arguments, **options):
        command = [sys.executable, *arguments]
        return subprocess.run(command, cwd=self.folder, stdin=subprocess.DEVNULL, text=True, capture_output=True, **options)

    def test_pip_prepares_the_metadata_without_a_compiler(self):
        options = ["--dry-run", "--no-deps", "--no-build-isolation", "--force-reinstall"]
        done = self.python("-m", "pip", "install", *options, str(HERE), env={"PATH": self.folder})
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertIn("Would install ferrite-tvm-ffi-", done.stdout)
        self.assertNotIn("Building wheel", done.stdout)

    def test_progress_is_shown_on_the_terminal_alone(self):
        report = (
            f"import sys; sys.path.append({str(HERE)!r}); import hatch_build\n"
            "progress = hatch_build.Progress('libtvm_ffi.so'); progress.crate('ferrite_core'); progress.end()"
        )
        shown = self.python("-c", f"import pty, sys; pty.spawn([sys.executable, '-c', {report!r}])").stdout
        self.assertRegex(shown, r"(?s)takes some minutes.*crate 1 compiled, \d+ s \(ferrite_core\).*built in \d+ s")
        alone = self.python("-c", report, start_new_session=True)
        self.assertEqual((alone.returncode, alone.stdout, alone.stderr), (0, "", ""))

    def test_config_settings(self):
        code = (
            f"import os, sys; sys.path.append({str(HERE)!r}); import wheel_backend\n"
            "for settings in ({'command': 'yes'}, {'command': 'no'}, None):\n"
            "    wheel_backend.apply(settings); print(repr(os.environ['FERRITE_WHEEL_COMMAND']))\n"
            "for settings in ({'command': 'maybe'}, {'comand': 'yes'}, {'python': '2'}):\n"
            "    try: wheel_backend.apply(settings)\n"
            "    except ValueError as error: print(error)"
        )
        done = self.python("-c", code)
        known = "there are command=yes, command=no, python=all, python=none and python=3.11,3.13"
        wrong = [f"there is no config setting {one}: {known}" for one in ("command=maybe", "comand=yes", "python=2")]
        self.assertEqual(done.stdout.splitlines(), ["'1'", "''", "''", *wrong], done.stderr)

    def test_the_kernels_come_with_the_command(self):
        code = (
            f"import sys; sys.path.append({str(HERE)!r}); import hatch_build, pathlib\n"
            "hatch_build.build = lambda name, *_, **__: pathlib.Path('/built', name)\n"
            "hatch_build.stripped = hatch_build.served = lambda file, *_: file\n"
            "hatch_build.extensions, hatch_build.platform_tag = lambda _: [], lambda *_: ''\n"
            "data = {'force_include': {}, 'shared_scripts': {}}\n"
            "hatch_build.LibraryHook.initialize(None, '', data)\n"
            "print(*data['force_include'].values(), *data['shared_scripts'].values())"
        )
        library = "ferrite_tvm_ffi.libs/libtvm_ffi.so"
        for setting, files in ("", library), ("1", f"{library} ferrite_tvm_ffi.libs/libferrite_kernels.a ferrite"):
            done = self.python("-c", code, env={**os.environ, "FERRITE_WHEEL_COMMAND": setting})
            self.assertEqual(done.stdout, f"{files}\n", done.stderr)

    def test_versions_of_extensions(self):
        code = (
            f"import os, sys; sys.path.append({str(HERE)!r}); import hatch_build, wheel_backend\n"
            "print(*hatch_build.versions())\n"
            "for setting in ('all', 'none', '3.9,3.12', '3.8'):\n"
            "    wheel_backend.apply({'python': setting})\n"
            "    try: print(*hatch_build.versions())\n"
            "    except ValueError as error: print(error)\n"
            "hatch_build.sys.version_info = (3, 99); del os.environ['FERRITE_WHEEL_PYTHON']\n"
            "print(*hatch_build.versions())"
        )
        done = self.python("-c", code, env={"PATH": os.environ["PATH"]})
        running = f"{sys.version_info[0]}.{sys.version_info[1]}"
        every = "3.9 3.10 3.11 3.12 3.13 3.14"
        wrong = f"FERRITE_WHEEL_PYTHON=3.8: there is an extension for CPython {every.replace(' ', ', ')}, and not for 3.8"
        self.assertEqual(done.stdout.splitlines(), [running, every, "", "3.9 3.12", wrong, ""], done.stderr)


if __name__ == "__main__":
    unittest.main()
