#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Makes the tables of docs/dev/benchmarks.md from the CSV of the benchmarks.

    tests/bench/tables.py build/tests/bench [FOLDER...] [docs/dev/benchmarks.md]

reads bench_shapes.csv, bench_iir.csv, bench_fir.csv, bench_pipeline.csv and
bench_fir_shapes.txt, what that program has printed, in the folder, those of them that are
there.  Of several folders, each of a run, it takes each group of the benchmarks from the run that
was disturbed least: of those that have most of its rows, where its times have the least
geometric mean; of bench_fir_shapes' shapes, which are to be of one kernel, each one's least.
With a page it replaces what stands between its lines
<!-- NAME --> and <!-- end -->; without one it prints the tables.
"""
import csv
import math
import pathlib
import re
import statistics
import sys

KERNELS = ("c", "sse2", "avx2", "avx512", "neon")
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


def read_least(paths):
    """The rows of several runs, each group from one of them that has the most of it."""
    least = {}
    for path in paths:
        groups = {}
        for row in read(path):
            groups.setdefault(row["group"], {})[row["subject"], row["variant"]] = row
        for name, rows in groups.items():
            times = [row["ns_per_sample"] for row in rows.values() if row["ns_per_sample"] > 0]
            mean = sum(map(math.log, times)) / max(len(times), 1)
            if name not in least or (-len(rows), mean) < least[name][0]:
                least[name] = (-len(rows), mean), rows
    return [row for _, rows in least.values() for row in rows.values()]


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


def best_kernels(rows):
    """The best one that was measured, in a list of one, or none."""
    names = [row["variant"].split(",")[0] for row in rows if row["subject"] == "core"]
    return [k for k in KERNELS if k in names][-1:]


def variant_of(kernel, kind, layout=""):
    """What bench_shapes calls a kernel for streams of a type."""
    return kernel + layout + (", F64" if kind == "F64" else "")


def api_table(rows):
    groups = {}
    for row in rows:
        if row["group"].startswith("api chain, ") and row["channels"]:
            groups[row["channels"]] = row["group"]
    channels = sorted(groups)
    best = best_kernels(rows)[0]

    def line(label, variant, key="ns_per_sample", form=number):
        found = [find(rows, group=groups[n], subject="core", variant=variant) for n in channels]
        return [label] + [cell(row, key, form) for row in found]

    lines = [
        ["SciPy, double"] + [cell(scipy_row(rows, groups[n], "F64")) for n in channels],
        ["SciPy, float32 to float32"] + [cell(scipy_row(rows, groups[n], "F32")) for n in channels],
    ]
    for kernel in KERNELS:
        lines.append(line(f"`{kernel}`", kernel))
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


def shape_rows(rows):
    """(sections, channels, frames, type) to {(subject, variant): row}."""
    groups = {}
    for row in rows:
        m = re.match(r"sections (\d+), channels (\d+), frames (\d+), (F\d\d)$", row["group"])
        if m:
            key = tuple(int(x) for x in m.groups()[:3]) + (m[4],)
            groups.setdefault(key, {})[row["subject"], row["variant"]] = row
    return groups


def shape_table(rows):
    """The api chain: ns, how many times as fast as a plain loop, part of the limit."""
    groups = shape_rows(rows)
    channels = [n for n in range(1, 10) if all((6, n, 1024, kind) in groups for kind in ("F32", "F64"))]
    lines = []
    for kind in ("F32", "F64"):
        for kernel in KERNELS:
            for layout in ("", ", planar"):
                variant = variant_of(kernel, kind, layout)
                line = []
                for n in channels:
                    group = groups.get((6, n, 1024, kind), {})
                    core, plain = (group.get((s, variant)) for s in ("core", "plain loop"))
                    line.append(
                        f"{number(core['ns_per_sample'])} "
                        f"({plain['ns_per_sample'] / core['ns_per_sample']:.1f}, "
                        f"{100 * core['part_of_limit']:.0f} %)"
                        if core and plain else ""
                    )
                limits = [groups[6, n, 1024, kind].get(("one multiply-add", kernel)) for n in channels]
                limits = [24 * row["ns_per_sample"] for row in limits if row]
                line.append(number(statistics.median(limits)) if limits and not layout else "")
                lines.append([f"{kind} `{kernel}`{layout}"] + line)
    head = ["channels"] + [str(n) for n in channels] + ["limit"]
    return table(head, [x for x in lines if any(x[1:-1])])


def depth_table(rows):
    """The best kernel in blocks of 1024 frames."""
    groups = shape_rows(rows)
    depths = sorted({k[0] for k in groups if k[1:] == (8, 1024, "F32")})
    best = best_kernels(rows)
    lines = []
    for kind in ("F32", "F64"):
        for n in (1, 2, 4, 8) if best else ():
            line = []
            for d in depths:
                row = groups.get((d, n, 1024, kind), {}).get(("core", variant_of(best[0], kind)))
                line.append(f"{row['ns_per_sample'] / d:.3f}" if row else "")
            lines.append([f"{kind}, {n} channel{'s' if n > 1 else ''}"] + line)
    return table(["sections"] + [str(d) for d in depths], lines if len(depths) > 2 else [])


def short_table(rows):
    """The best kernel in blocks of other lengths than 1024."""
    groups = shape_rows(rows)
    best = best_kernels(rows)
    frames = sorted({k[2] for k in groups if k[:2] == (6, 1)} - {1024})
    channels = [1, 2, 3, 4, 6, 8, 9]
    lines = []
    for kind in ("F32", "F64"):
        for depth in (1, 6):
            for n in frames if best else ():
                line = []
                for m in channels:
                    row = groups.get((depth, m, n, kind), {}).get(("core", variant_of(best[0], kind)))
                    line.append(cell(row))
                lines.append([f"{kind}, {depth} section{'s' if depth > 1 else ''}, {n}"] + line)
    return table(["sections, frames"] + [f"{n} ch" for n in channels],
                 [x for x in lines if any(x[1:])] if len(frames) > 2 else [])


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
    subjects = {
        "empty pipeline": {"subject": "empty pipeline"},
        "six audiocheblimit": {"subject": "six audiocheblimit"},
        "six tfx elements, unfused": {"subject": "six tfx elements", "variant": "fuse=false"},
        "fused": {"subject": "six tfx elements", "variant": "fused"},
        "one tfxchain": {"subject": "tfxchain"},
        "core, one by one": {"subject": "core, one by one"},
        "core": {"subject": "core"},
    }
    head = ["channels × frames"] + list(subjects) + ["unfused against audiocheblimit", "fused"]
    lines = []
    rows = [r for r in rows if r["group"].startswith("six elements")]
    for n, frames in sorted({(r["channels"], r["frames"]) for r in rows}):
        found = [find(rows, channels=n, frames=frames, **s) for s in subjects.values()]
        ratios = [cell(found[k], "times_as_fast") + " ×" for k in (2, 3)]
        lines.append([f"{n} × {frames}"] + [cell(r) for r in found] + ratios)
    return table(head, lines)


def fir_rows(rows):
    """(taps, channels, frames of a block) to the rows of the group."""
    groups = {}
    for row in rows:
        m = re.match(r"(\d+) taps, (\d+) channels?, blocks of (\d+)$", row["group"])
        if m:
            groups.setdefault(tuple(int(x) for x in m.groups()), []).append(row)
    return groups


def fir_variant(rows, prefix):
    for row in rows:
        if row["subject"] == "tfx" and row["variant"].startswith(prefix):
            return row
    return None


def fir_kernels(rows):
    """Those that were measured, the best one last."""
    return [k for k in KERNELS if fir_variant(rows, k + ",")]


def fir_table(rows):
    kernels = fir_kernels(rows)
    peers = [(name, subject) for name, subject in
             (("zita", "zita-convolver"), ("SciPy", "SciPy oaconvolve")) if find(rows, subject=subject)]
    head = ["taps, channels, block"] + [name for name, _ in peers] + [f"`{k}`" for k in kernels]
    head += ["F64"] + [f"times {name}" for name, _ in peers]
    lines = []
    for (taps, channels, frames), own in sorted(fir_rows(rows).items()):
        found = [find(own, subject=subject) for _, subject in peers]
        best = fir_variant(own, kernels[-1] + ",")
        line = [f"{taps}, {channels}, {frames}"] + [cell(row) for row in found]
        line += [cell(fir_variant(own, k + ",")) for k in kernels]
        line += [cell(fir_variant(own, kernels[-1] + " F64"))]
        for row in found:
            line += [number(row["ns_per_sample"] / best["ns_per_sample"]) if row else ""]
        lines.append(line)
    return table(head, lines)


def fir_form_table(rows):
    best = fir_kernels(rows)[-1]
    lines = []
    for (taps, channels, frames), own in sorted(fir_rows(rows).items()):
        row = fir_variant(own, best + ",")
        if row and channels == 1:
            lines.append([f"{taps}, {frames}", row["variant"].split(", ", 1)[1]])
    return table(["taps, block", "form"], lines)


def fir_worst_table(rows):
    found = [row for row in rows if row["subject"] == "worst block"]
    channels = sorted({row["channels"] for row in found})
    lines = {}
    for row in found:
        taps = int(re.match(r"worst block, (\d+) taps", row["group"])[1])
        line = lines.setdefault((taps, row["frames"]), [""] * len(channels))
        line[channels.index(row["channels"])] = number(row["ns_per_sample"])
    head = ["taps, block"] + [f"{n} ch." for n in channels]
    return table(head, [[f"{k[0]}, {k[1]}"] + v for k, v in sorted(lines.items())])


def fir_change_table(rows):
    names = ("mean, us", "worst, us", "seconds", "set, us", "prepare, us")
    head = ["taps, channels, block", "mean block, µs", "worst block, µs", "times", "for, s",
            "the call, µs", "before, in another thread, µs"]
    lines = []
    for group in sorted({row["group"] for row in rows if row["subject"] == "mean, us"},
                        key=lambda g: [int(x) for x in re.findall(r"\d+", g)]):
        v = [find(rows, group=group, subject=name)["ns_per_sample"] for name in names]
        title = ", ".join(re.findall(r"\d+", group))
        lines.append([title, number(v[0]), number(v[1]), number(v[1] / v[0])]
                     + [number(x) for x in v[2:]])
    return table(head, lines)


def fir_pipeline_table(rows):
    lines = []
    for row in rows:
        if row["group"].startswith("FIR filters") and row["subject"] != "empty pipeline":
            name = row["subject"] + (f", {row['variant']}" if row["variant"] else "")
            lines.append([name, str(row["channels"]), cell(row), cell(row, "times_as_fast")])
    return table(["elements", "channels", "ns per sample", "as fast as one audiowsinclimit"], lines)


def read_shapes(path):
    """Of bench_fir_shapes: (taps, channels, frames, type) to ns and the worst block."""
    line = re.compile(r" *(\d+) taps (\d+) ch +(\d+) frames (F\d\d): +([\d.]+) ns, worst block ([\d.]+)")
    found = [m for m in map(line.match, path.read_text().splitlines()) if m]
    return {(int(m[1]), int(m[2]), int(m[3]), m[4]): (float(m[5]), float(m[6])) for m in found}


def fir_grid_tables(shapes):
    """Of two channels F32 and F64, and the worst block of all shapes."""
    lengths, frames = (sorted({key[i] for key in shapes}) for i in (0, 2))
    times, worst = [], []
    for taps in lengths:
        line = [[shapes.get((taps, 2, n, kind)) for kind in ("F32", "F64")] for n in frames]
        times.append([str(taps)] + [" / ".join(number(x[0]) if x else "" for x in pair) for pair in line])
        line = [[v[1] for k, v in shapes.items() if (k[0], k[2]) == (taps, n)] for n in frames]
        worst.append([str(taps)] + [f"{max(v):.1f}" if v else "" for v in line])
    head = ["taps"] + [str(n) for n in frames]
    return {"fir-grid": table(head, times), "fir-grid-worst": table(head, worst)}


# The tables that are made from each file.
TABLES = {
    "bench_iir.csv": {"limit": limit_table, "api": api_table, "order": order_table,
                      "blocks": block_table},
    "bench_shapes.csv": {"shapes": shape_table, "depth": depth_table,
                         "short": short_table},
    "bench_pipeline.csv": {"pipelines": pipeline_table, "fir-pipelines": fir_pipeline_table},
    "bench_fir.csv": {"fir": fir_table, "fir-forms": fir_form_table,
                      "fir-worst": fir_worst_table, "fir-changes": fir_change_table},
}


def main():
    pages = [name for name in sys.argv[1:] if name.endswith(".md")]
    folders = [pathlib.Path(name) for name in sys.argv[1:] if name not in pages]
    if not folders or len(pages) > 1:
        sys.exit(__doc__)
    for folder in folders:
        if not folder.is_dir():
            sys.exit(f"tables.py: {folder}: no such folder")
    tables = {}
    for name, makers in TABLES.items():
        paths = [folder / name for folder in folders if (folder / name).exists()]
        if paths:
            rows = read_least(paths)
            tables.update({key: make(rows) for key, make in makers.items()})
    paths = [folder / "bench_fir_shapes.txt" for folder in folders]
    shapes = {}
    for path in paths:
        if path.exists():
            for key, value in read_shapes(path).items():
                shapes[key] = min(value, shapes.get(key, value))
    if shapes:
        tables.update(fir_grid_tables(shapes))
    # What was not measured keeps its place: a head and a rule alone.
    tables = {key: body for key, body in tables.items() if body.count("\n") > 2}
    if not pages:
        print("\n".join(tables.values()))
        return
    page = pathlib.Path(pages[0])
    text = page.read_text()
    for name, body in tables.items():
        pattern = f"(<!-- {name} -->\n).*?(<!-- end -->)"
        text, n = re.subn(pattern, lambda m: m[1] + body + m[2], text, flags=re.S)
        if n != 1:
            sys.exit(f"tables.py: {page}: no place for the table {name}")
    page.write_text(text)


main()
