# SPDX-License-Identifier: LGPL-2.1-or-later
"""house.py finds what it looks for, in small trees that are made up."""

import os
import subprocess
import sys
import tempfile
import unittest

HOUSE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "house.py")


def define(name, calls="", static=False):
    """A function, as the sources are formatted."""
    return (f"{'static int' if static else 'int'}\n{name} (int a,\n    int b)\n"
            f"{{\n  return {calls or '0'};\n}}\n")


CLEAN = {
    "dsp/plan.h": "int tfx_plan_new (int a, int b);\n",
    "dsp/plan.c": '#include "plan.h"\n' + define("tfx_plan_new"),
    "dsp/cpu/engine.h": '#include "plan.h"\n',
    "dsp/cpu/engine.c":
        '#include "engine.h"\n' + define("tfx_engine_new", "tfx_plan_new (1, 2)"),
    "cuda/device.c": '#include "plan.h"\n' +
        define("tfx_device_new", "tfx_plan_new (1, 2)"),
    "gst/base/gsttfxelement.c":
        '#include "plan.h"\n' + define("gst_tfx_element_new",
                                       "tfx_device_new (1, 2)"),
}


class TestHouse(unittest.TestCase):
    def check(self, changes, *expected):
        """The output holds each text; without any, nothing is found."""
        with tempfile.TemporaryDirectory() as root:
            for path, text in {**CLEAN, **changes}.items():
                path = os.path.join(root, path)
                os.makedirs(os.path.dirname(path), exist_ok=True)
                with open(path, "w", encoding="utf-8") as source:
                    source.write(text)
            run = subprocess.run([sys.executable, HOUSE, root], text=True,
                                 stdout=subprocess.PIPE,
                                 stderr=subprocess.STDOUT, check=False)
        for text in expected:
            self.assertIn(text, run.stdout)
        self.assertEqual(run.returncode, 1 if expected else 0, run.stdout)
        if not expected:
            self.assertEqual(run.stdout, "")

    def test_clean(self):
        self.check({})

    def test_two(self):
        self.check(
            {"dsp/stage.c": define("tfx_stage_new", "tfx_chain_new (1, 2)"),
             "dsp/chain.c": define("tfx_chain_new", "tfx_stage_new (1, 2)")},
            "2 files call each other in a circle: dsp/chain, dsp/stage",
            "dsp/chain.c:5 calls tfx_stage_new of dsp/stage",
            "dsp/stage.c:5 calls tfx_chain_new of dsp/chain")

    def test_three(self):
        self.check(
            {"dsp/a.c": define("tfx_a", "tfx_b (1, 2)"),
             "dsp/b.c": define("tfx_b", "tfx_c (1, 2) + tfx_plan_new (1, 2)"),
             "dsp/c.c": define("tfx_c", "tfx_a (1, 2)")},
            "3 files call each other in a circle: dsp/a, dsp/b, dsp/c",
            "dsp/b.c:5 calls tfx_c of dsp/c")

    def test_pointer(self):
        """A function that stands in a table is needed like one that is called,
        and so is the table."""
        self.check(
            {"dsp/kinds.c": "const TfxKind tfx_kinds[] = {\n  tfx_gain_run,\n};\n",
             "dsp/gain.c": define("tfx_gain_run", "tfx_kinds[0].id")},
            "dsp/kinds.c:2 calls tfx_gain_run of dsp/gain",
            "dsp/gain.c:5 calls tfx_kinds of dsp/kinds")

    def test_own(self):
        """A call within a file, a static function of the same name, comments
        and strings are nobody else's."""
        self.check(
            {"dsp/a.c": define("tfx_a") + define("tfx_b", "tfx_a (1, 2)",
                                                 static=True),
             "dsp/b.c": "/* tfx_a (1) */\n// tfx_a (2)\n" +
                 define("tfx_b", '"tfx_a (3)"')})

    def test_template(self):
        """What is included as text is part of its file, and so are the files of
        the instruction sets."""
        files = {
            "dsp/cpu/kernels-c.c": '#include "run_tmpl.c"\n',
            "dsp/cpu/kernels-avx2.c": '#include "run_tmpl.c"\n' +
                define("tfx_kernels_avx2", "tfx_pack (1, 2)"),
            "dsp/cpu/run_tmpl.c": define("tfx_run", "tfx_pack (1, 2)"),
            "dsp/cpu/pack.c": define("tfx_pack"),
        }
        self.check(files)
        files["dsp/cpu/pack.c"] = define("tfx_pack", "tfx_kernels_avx2 (1, 2)")
        self.check(files, "dsp/cpu/kernels, dsp/cpu/pack")
        files["dsp/cpu/pack.c"] = define("tfx_pack", "tfx_run (1, 2)")
        self.check(files, "dsp/cpu/kernels, dsp/cpu/pack")

    def test_stands_in(self):
        """A file that defines another one's functions, for builds without it, is
        not what others call."""
        self.check(
            {"gst/cuda/real.h": "int gst_tfx_real (int a, int b);\n",
             "gst/cuda/real.c": '#include "real.h"\n' + define("gst_tfx_real"),
             "gst/cuda/pool.h": "int gst_tfx_pool (int a, int b);\n",
             "gst/cuda/pool.c": define("gst_tfx_pool", "gst_tfx_real (1, 2)"),
             "gst/cuda/none.c": define("gst_tfx_real", "gst_tfx_pool (1, 2)")})

    def test_headers(self):
        self.check({"dsp/a.h": '#include "b.h"\n', "dsp/b.h": '#include "a.h"\n'},
                   "2 files include each other in a circle: dsp/a.h, dsp/b.h",
                   "dsp/a.h:1 includes dsp/b.h")

    def test_tops(self):
        self.check({"dsp/a.c": '#include "device.h"\n', "cuda/device.h": ""},
                   "dsp/ does not need cuda/: dsp/a.c:1 includes cuda/device.h")
        self.check({"cuda/b.c": define("tfx_b", "gst_tfx_element_new (1, 2)")},
                   "cuda/ does not need gst/: cuda/b.c:5 calls "
                   "gst_tfx_element_new")

    def test_folders(self):
        self.check({"gst/iir/gsttfxiir.h": '#include "gsttfxbase.h"\n',
                    "gst/base/gsttfxbase.h": "",
                    "gst/base/gsttfxother.h": '#include "gsttfxiir.h"\n'},
                   "2 folders need each other in a circle: gst/base, gst/iir",
                   "gst/iir/gsttfxiir.h:1 includes gst/base/gsttfxbase.h")

    def test_nothing(self):
        """An empty folder is a mistake, not a clean house."""
        with tempfile.TemporaryDirectory() as root:
            run = subprocess.run([sys.executable, HOUSE, root], text=True,
                                 stderr=subprocess.PIPE, check=False)
        self.assertEqual(run.returncode, 1)
        self.assertIn("no sources", run.stderr)


if __name__ == "__main__":
    unittest.main()
