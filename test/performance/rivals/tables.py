"""Tables of rivals.py's measurements. A row is one program; README.md explains the columns."""
import importlib.metadata
import textwrap

import report

WORST = 0.95  # what no program should fall below, as the best rival's time over ours
PACKAGES = ("torch", "onnxruntime", "openvino", "mkl", "llama-cpp-python", "jaxlib")


def versions():
    found = {}
    for package in PACKAGES:
        try:
            found[package] = importlib.metadata.version(package)
        except importlib.metadata.PackageNotFoundError:
            pass
    return found


def isa():
    """The class of instruction sets, as the best flags of this processor say."""
    with open("/proc/cpuinfo") as file:
        flags = next((line for line in file if line.startswith("flags")), "").split()
    names = (("amx_bf16", "AMX"), ("avx512_fp16", "AVX-512 FP16"), ("avx512_bf16", "AVX-512 BF16"), ("avx512_vnni", "AVX-512 VNNI"), ("avx512f", "AVX-512"), ("avx2", "AVX2"))
    return ", ".join(name for flag, name in names if flag in flags)


def time_of(answer):
    return (answer or {}).get("run_ms_min")


def best_rival(row):
    """(name, ms) of the fastest rival whose results agree."""
    right = {n: time_of(a) for n, a in row["rivals"].items() if time_of(a) and not wrong(row, n)}
    name = min(right, key=right.get, default=None)
    return name, right.get(name)


def wrong(row, name):
    found = row["difference"].get(name)
    return found is not None and not found <= row["tolerance"]


def ratio(row, way="ours"):
    """The best rival's time over ours."""
    ours, theirs = time_of(row[way]), best_rival(row)[1]
    return theirs / ours if ours and theirs else None


def best_ratio(row):
    """With prepared weights where that was measured: rivals have packed theirs."""
    return ratio(row, "prepared") or ratio(row)


def share(row, peaks):
    """(rate, share of the peak or of the bandwidth) of our best time."""
    way = "prepared" if time_of(row["prepared"]) else "ours"
    return report.rate({"ours": row[way], "bytes": row["bytes"], "result_bytes": row["result_bytes"], "work": row["work"]}, peaks)


def remarks(row):
    found = [f"{n} differs by {row['difference'][n]:.1e}" for n in row["rivals"] if wrong(row, n)]
    found += [f"{n}: {report.short_error(a)}" for n, a in row["rivals"].items() if "error" in a]
    found += [f"ours{' prepared' if w == 'prepared' else ''}: {report.short_error(row[w])}" for w in ("ours", "prepared") if "error" in row[w]]
    return "; ".join(found)


def cells(row, peaks):
    name, theirs = best_rival(row)
    rate, part = share(row, peaks)
    others = ", ".join(f"{n} {time_of(a):.4g}" for n, a in sorted(row["rivals"].items(), key=lambda x: time_of(x[1]) or 0) if time_of(a) and n != name)
    figure = lambda v, form=".2f": "" if v is None else format(v, form)
    return [row["program"], figure(time_of(row["ours"]), ".4g"), figure(time_of(row["prepared"]), ".4g"), figure(theirs, ".4g"), name or "",
            figure(ratio(row)), figure(ratio(row, "prepared")), rate, "" if part is None else f"{100 * part:.0f} %", others, remarks(row)]


def line(row, peaks):
    """A program's line for the terminal."""
    name, plain, prepared, theirs, rival, ratio_plain, ratio_prepared, rate, part, others, remark = cells(row, peaks)
    return f"{name:48s} {plain:>8s} {prepared:>8s} {theirs:>8s} {rival:11s} {ratio_plain:>5s} {ratio_prepared:>5s}  {rate:>13s} {part:>5s}  {others}  {remark}"


def groups(rows):
    found = {}
    for row in rows:
        found.setdefault(row["group"], []).append(row)
    return found


def mean_cells(rows):
    good = [r for r in rows if best_ratio(r)]
    if not good:
        return None
    worst = min(good, key=best_ratio)
    gain = [time_of(r["ours"]) / time_of(r["prepared"]) for r in good if time_of(r["prepared"])]
    number = lambda v: f"{v:.2f}" if v else ""
    return [str(len(good)), number(report.mean(map(ratio, good))), number(report.mean(map(best_ratio, good))), f"{best_ratio(worst):.2f} `{worst['program']}`",
            str(sum(best_ratio(r) < WORST for r in good)), number(report.mean(gain) if gain else None)]


def means_table(rows):
    out = ["| group | rows | plain | prepared | worst | below 0.95 | prepared over plain |", "|---|---|---|---|---|---|---|"]
    for name, mine in groups(rows).items():
        found = mean_cells(mine)
        if found:
            out.append("| " + " | ".join([name] + found) + " |")
    return "\n".join(out)


def means(rows):
    return "\n".join(line.replace(" | ", "  ").strip("| ") for line in means_table(rows).splitlines() if not line.startswith("|---"))


def layouts_table(rows):
    """The time of programs of NCHW beside that of the same of NHWC."""
    named, out = {r["program"]: r for r in rows}, ["| program | NHWC ms | NCHW ms | NCHW over NHWC |", "|---|---|---|---|"]
    for row in rows:
        other = named.get(row["program"].replace("_nhwc_", "_nchw_"))
        for way, suffix in (("ours", ""), ("prepared", ", prepared")):
            if other and other is not row and time_of(row[way]) and time_of(other[way]):
                a, b = time_of(row[way]), time_of(other[way])
                out.append(f"| {row['program'].replace('_nhwc', '')}{suffix} | {a:.4g} | {b:.4g} | {b / a:.2f} |")
    return "\n".join(out) if len(out) > 2 else ""


def prose(text):
    """The text's lines of at most 120 columns."""
    return textwrap.wrap(text, 120, break_long_words=False, break_on_hyphens=False)


def document(rows, known):
    out = ["# Against the fastest engines", "",
           *prose("Written by `rivals.py --readme`. Ratio: the best rival's time over ours, above 1 we are faster; times in ms, one "
                  "thread, one core. Only rivals whose results agree within the row's tolerance count. *prepared*: with "
                  "`--immutable-params`; rivals pack their weights ahead too."), ""]
    if known:
        packages = ", ".join(f"{k} {v}" for k, v in known.get("versions", {}).items())
        out += [*prose(f"{known.get('date', '?')}, commit {known.get('commit', '?')}, {known.get('processor', '?')} ({isa()})."),
                *prose(packages + "."), *prose(report.peaks_line({"cores": 1, "peaks": known.get("peaks", {})})), ""]
    out += ["Geometric means; *prepared* falls back to plain where a program has no weights.", "", means_table(rows), ""]
    layouts = layouts_table(rows)
    if layouts:
        out += ["## NCHW beside NHWC", "", layouts, ""]
    for name, mine in groups(rows).items():
        out += [f"## {name}", "", "| program | plain ms | prepared ms | rival ms | best rival | ratio | prepared | rate | share | others, ms | remarks |",
                "|---|---|---|---|---|---|---|---|---|---|---|"]
        out += ["| " + " | ".join(cells(row, known.get("peaks", {}))) + " |" for row in mine] + [""]
    return "\n".join(out)
