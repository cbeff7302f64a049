#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Makes the tables of docs/benchmarks.md from the CSV of the benchmarks.

    tests/bench/tables.py build/tests/bench [docs/benchmarks.md]

reads bench_iir.csv and bench_pipeline.csv in the folder.  With a page it
replaces what stands between its lines <!-- NAME --> and <!-- end -->;
without one it prints the tables.
"""
import csv
import pathlib
import re
import sys

KERNELS = ("c", "sse2", "avx2", "avx512")
SCIPY = "SciPy sosfilt"


def read(path):
    with open(path, newline="") as file:
        rows = list(csv.DictReader(file))
    for row in rows:
        for key in ("channels", "frames", "sections"):
            row[key] = int(row[key])
        for key in ("ns_per_sample", "part_of_limit", "times_as_fast"):
            row[key] = float(row[key])
    return rows


def table(head, lines):
    """Markdown; a column of figures is aligned to the right."""
    rule = ["---"] + ["---:"] * (len(head) - 1)
    return "\n".join("| " + " | ".join(line) + " |" for line in [head, rule] + lines) + "\n"


def number(value):
    return f"{value:.1f}" if value >= 9.95 else f"{value:.2f}"


def find(rows, **wanted):
    for row in rows:
        if all(row[key] == value for key, value in wanted.items()):
            return row
    return None


def cell(row, key="ns_per_sample", form=number):
    return form(row[key]) if row else ""


def percent(value):
    return f"{100 * value:.0f} %"


def scipy_row(rows, group, suffix):
    for row in rows:
        if (row["group"], row["subject"]) == (group, SCIPY) and row["variant"].endswith(suffix):
            return row
    return None


def api_table(rows):
    groups = {}
    for row in rows:
        if row["group"].startswith("api chain, ") and row["channels"]:
            groups[row["channels"]] = row["group"]
    channels = sorted(groups)
    best = [k for k in KERNELS if find(rows, subject="core", variant=k)][-1]

    def line(label, variant, key="ns_per_sample", form=number):
        found = [find(rows, group=groups[n], subject="core", variant=variant) for n in channels]
        return [label] + [cell(row, key, form) for row in found]

    lines = [
        ["SciPy, double"] + [cell(scipy_row(rows, groups[n], "F64")) for n in channels],
        ["SciPy, float32 to float32"] + [cell(scipy_row(rows, groups[n], "F32")) for n in channels],
    ]
    for kernel in KERNELS:
        lines.append(line(f"`{kernel}`", kernel))
        lines.append(line(f"`{kernel}`, planar", f"{kernel}, planar"))
    lines.append(line(f"`{best}`, F64", f"{best}, F64"))
    lines.append(line(f"`c`, times as fast as SciPy", "c", "times_as_fast"))
    lines.append(line(f"`{best}`, times as fast as SciPy", best, "times_as_fast"))
    lines.append(line(f"`{best}`, of the core's limit", best, "part_of_limit", percent))
    return table(["channels"] + [str(n) for n in channels], [x for x in lines if any(x[1:])])


def limit_table(rows):
    lines = []
    for kernel in KERNELS:
        row = find(rows, subject="one multiply-add", variant=kernel)
        if row:
            lines.append([f"`{kernel}`", f"{1 / row['ns_per_sample']:.1f}"])
    return table(["instruction set", "10⁹ multiply-adds a second, double"], lines)


def order_table(rows):
    groups = {}
    for row in rows:
        if row["group"].startswith("low-pass of order 16") and row["channels"]:
            groups[row["channels"]] = row["group"]
    channels = sorted(groups)
    lines = [["SciPy, double"] + [cell(scipy_row(rows, groups[n], "F64")) for n in channels]]
    for kernel in KERNELS:
        found = [find(rows, group=groups[n], subject="core", variant=kernel) for n in channels]
        lines.append([f"`{kernel}`"] + [cell(row) for row in found])
    return table(["channels"] + [str(n) for n in channels], [x for x in lines if any(x[1:])])


def depth_table(rows):
    found = [r for r in rows if r["group"].startswith("depth") and r["subject"] == "core"]
    depths = sorted({r["sections"] for r in found})
    lines = []
    for n in sorted({r["channels"] for r in found}):
        cells = [find(found, channels=n, sections=d) for d in depths]
        lines.append(
            [f"{n} channel{'s' if n > 1 else ''}"]
            + [f"{r['ns_per_sample'] / r['sections']:.3f}" for r in cells]
        )
    return table(["sections"] + [str(d) for d in depths], lines)


def block_table(rows):
    head, lines = ["frames of a block"], []
    blocks = [r for r in rows if re.match("api chain(,| in blocks)", r["group"])]
    channels = sorted({r["channels"] for r in blocks if "in blocks" in r["group"]} - {0})
    for n in channels:
        head += [f"SciPy, {n} ch.", f"core, {n} ch.", "times"]
    for frames in sorted({r["frames"] for r in blocks if r["frames"]}):
        line = [str(frames)]
        for n in channels:
            own = [r for r in blocks if (r["channels"], r["frames"]) == (n, frames)]
            core = [r for r in own if r["subject"] == "core" and r["variant"] in KERNELS]
            scipy = scipy_row(own, own[0]["group"], "F64") if own else None
            line += [cell(scipy)]
            line += [cell(core[-1]), cell(core[-1], "times_as_fast")] if core else ["", ""]
        lines.append(line)
    return table(head, lines)


def pipeline_table(rows):
    names = ("empty pipeline", "six audiocheblimit", "six tfx elements", "core, one by one", "core")
    head = ["channels × frames"] + list(names) + ["tfx against audiocheblimit"]
    lines = []
    for n, frames in sorted({(r["channels"], r["frames"]) for r in rows}):
        found = [find(rows, channels=n, frames=frames, subject=name) for name in names]
        ratio = cell(found[2], "times_as_fast")
        lines.append([f"{n} × {frames}"] + [cell(r) for r in found] + [ratio + " ×"])
    return table(head, lines)


def main():
    if len(sys.argv) not in (2, 3):
        sys.exit(__doc__)
    folder = pathlib.Path(sys.argv[1])
    iir, pipeline = read(folder / "bench_iir.csv"), read(folder / "bench_pipeline.csv")
    tables = {
        "limit": limit_table(iir),
        "api": api_table(iir),
        "order": order_table(iir),
        "depth": depth_table(iir),
        "blocks": block_table(iir),
        "pipelines": pipeline_table(pipeline),
    }
    if len(sys.argv) == 2:
        print("\n".join(tables.values()))
        return
    page = pathlib.Path(sys.argv[2])
    text = page.read_text()
    for name, body in tables.items():
        pattern = f"(<!-- {name} -->\n).*?(<!-- end -->)"
        text, n = re.subn(pattern, lambda m: m[1] + body + m[2], text, flags=re.S)
        if n != 1:
            sys.exit(f"tables.py: {page}: no place for the table {name}")
    page.write_text(text)


main()
