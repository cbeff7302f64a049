# SPDX-License-Identifier: LGPL-2.1-or-later
"""Counts single test cases, not programs.

    count.py LOG...

LOG is meson-logs/testlog.json, or a text with TAP lines in it.  A case is a
TAP line "ok" or "not ok", a check of a GStreamer check suite, or a program
that prints neither.  A program that fails in any other way, such as a crash, a
timeout, a leak or cases missing from its plan, counts as one failed case more.

Prints the failed cases, then "passed failed skipped" on the last line.
"""

import json
import re
import sys

TAP_LINE = re.compile(r"^(not )?ok\b[ \t]*\d*[ \t]*(?:- )?([^#\n]*)(?:#\s*(\w+))?", re.M)
TAP_PLAN = re.compile(r"^1\.\.(\d+)", re.M)
CHECK_LINE = re.compile(
    r"^\d+%: Checks: (\d+), Failures: (\d+), Errors: (\d+)", re.M)
# file.c:line:F:test case:test:iteration: message
CHECK_FAILURE = re.compile(r"^.+?:\d+:[FE]:[^:]*:([^:]*):\d+: (.*)$", re.M)


class Count:
    def __init__(self):
        self.passed = self.failed = self.skipped = 0

    def fail(self, program, case):
        self.failed += 1
        print(f"FAILED: {program}: {case}" if program else f"FAILED: {case}")

    def add_tap(self, program, text):
        """Returns the number of failed cases."""
        before = self.failed
        seen = 0
        for line in TAP_LINE.finditer(text):
            seen += 1
            directive = (line[3] or "").lower()
            if directive.startswith("skip"):
                self.skipped += 1
            elif line[1] and directive != "todo":
                self.fail(program, line[2].strip())
            else:
                self.passed += 1
        plan = TAP_PLAN.search(text)
        if plan and int(plan[1]) != seen:
            self.fail(program, f"{plan[1]} cases planned, {seen} seen")
        elif not plan:
            self.fail(program, "ended before its plan")
        return self.failed - before

    def add_check(self, program, text):
        before = self.failed
        for line in CHECK_LINE.finditer(text):
            checks, failures, errors = (int(group) for group in line.groups())
            self.passed += checks - failures - errors
            self.failed += failures + errors
        for line in CHECK_FAILURE.finditer(text):
            print(f"FAILED: {program}: {line[1]}: {line[2]}")
        return self.failed - before

    def add_program(self, test):
        program, result = test["name"], test["result"]
        text = test.get("stdout") or ""
        good = result in ("OK", "SKIP", "EXPECTEDFAIL")
        if CHECK_LINE.search(text):
            found = self.add_check(program, text)
        elif TAP_LINE.search(text) or TAP_PLAN.search(text):
            found = self.add_tap(program, text)
        elif result == "SKIP":
            self.skipped += 1
            return
        elif good:
            self.passed += 1
            return
        else:
            found = 0
        if not good and found == 0:
            self.fail(program, f"{result}, exit status {test['returncode']}")


def main():
    count = Count()
    for log in sys.argv[1:]:
        with open(log, encoding="utf-8", errors="replace") as lines:
            if log.endswith(".json"):
                for line in lines:
                    count.add_program(json.loads(line))
            else:
                count.add_tap("", lines.read())
    print(count.passed, count.failed, count.skipped)


if __name__ == "__main__":
    main()
