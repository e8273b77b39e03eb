"""Tables and charts of run.py's measurements. A row is one module on a number of processors; see README.md."""
import datetime
import html
import json
import math
import os
import subprocess
import textwrap

WORST = 0.95  # what no module should fall below, as XLA's time over ours
DIFFERENT = 0.01  # results that differ by more than this are marked


def save(path, rows, machine):
    with open(path, "w") as file:
        file.writelines(json.dumps({"machine": m}) + "\n" for m in machine)
        file.writelines(json.dumps(r) + "\n" for r in rows)


def load(path):
    with open(path) as file:
        lines = [json.loads(line) for line in file]
    return [r for r in lines if "machine" not in r], [r["machine"] for r in lines if "machine" in r]


def machine():
    """When and where a run was made."""
    processor = "?"
    with open("/proc/cpuinfo") as file:
        for line in file:
            if line.startswith("model name"):
                processor = line.split(":", 1)[1].strip()
                break
    here = os.path.dirname(os.path.abspath(__file__))
    commit = subprocess.run(["git", "-C", here, "rev-parse", "--short", "HEAD"], capture_output=True, text=True, check=False).stdout.strip()
    try:
        from jaxlib.version import __version__ as jaxlib
    except ImportError:
        jaxlib = "?"
    return {"processor": processor, "commit": commit, "jaxlib": jaxlib, "date": datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%d %H:%M")}


def speed(row, rival="xla"):
    """The rival's time divided by ours; None if one is missing."""
    a, b = row["ours"].get("run_ms_min"), (row.get(rival) or {}).get("run_ms_min")
    return b / a if a and b else None


def family(row):
    """The name's part before the first underscore; modules from elsewhere are one family."""
    return row["module"].split("_")[0] if row["own"] else "shared models"


def rate(row, peaks):
    """(text, share): a module's speed as a share of its limit.

    With dots or convolutions outside of loops, the limit is the lesser of their element type's peak and the bandwidth; for
    all others it is the bandwidth. Bandwidth: bytes of parameters and results per second, compared with reading or copying
    a block of that size."""
    ms = row["ours"].get("run_ms_min")
    if not ms:
        return "", None
    place = "cache" if row["bytes"] <= 3 << 19 else "large" if row["bytes"] <= 64 << 20 else "memory"
    kind = "copy" if row["result_bytes"] * 10 > row["bytes"] else "read"
    moved = row["bytes"] / ms / 1e6
    best = f"{moved:.3g} GB/s", moved / peaks[f"{place}_{kind}"] if peaks.get(f"{place}_{kind}") else None
    if row["work"]:
        operations, element = row["work"]
        # A product of narrow floats may also be computed by widening.
        types = {"s8": ["s8", "s8_tile"], "u8": ["s8", "s8_tile"], "f64": ["f64"], "c128": ["f64"], "bf16": ["bf16", "bf16_tile", "f32"]}.get(element, ["f32"])
        peak, done = max(peaks.get(t, 0) for t in types), operations / ms / 1e6
        share = done / peak if peak else None
        if best[1] is None or share is None or share > best[1]:
            best = f"{done:.3g} GFLOP/s", share
    return best


def figure(value, form=".2f"):
    return "" if value is None else format(value, form)


def short_error(answer):
    return (answer or {}).get("error", "")[:90].replace("|", "/")


def line(row, peaks):
    """A module's line for the terminal."""
    if "error" in row["ours"]:
        return f"{row['module']:46s} ours: {row['ours']['error'][:120]}"
    if "error" in row["xla"]:
        return f"{row['module']:46s} {row['ours']['run_ms_min']:9.4f} ms; XLA: {row['xla']['error'][:100]}"
    text, share = rate(row, peaks)
    iree = speed(row, "iree")
    wrong = row.get("difference")
    return (f"{row['module']:46s} {row['ours']['run_ms_min']:9.4f} {row['xla']['run_ms_min']:9.4f} {speed(row):7.2f}x "
            + (f"{iree:6.2f}x " if iree else "") + f"{text:>14s} {'' if share is None else format(100 * share, '4.0f') + '%'}"
            + (f"  DIFFERENT {wrong:.1e}" if wrong is not None and wrong > DIFFERENT else ""))


def mean(values):
    values = [v for v in values if v]
    return math.exp(sum(map(math.log, values)) / len(values)) if values else None


def summary(rows):
    """One line for each number of processors."""
    lines = []
    for cores in sorted({r["cores"] for r in rows}):
        mine = [r for r in rows if r["cores"] == cores]
        good = [r for r in mine if speed(r)]
        text = f"{cores} core(s): {len(good)} of {len(mine)} modules ran on both"
        if good:
            worst = min(good, key=speed)
            text += (f"; geometric mean {mean(map(speed, good)):.2f}, worst {speed(worst):.2f} ({worst['module']}), "
                     f"{sum(speed(r) < WORST for r in good)} below {WORST}, {sum((r.get('difference') or 0) > DIFFERENT for r in good)} with other results")
        against = [r for r in mine if speed(r, "iree")]
        if against:
            worst = min(against, key=lambda r: speed(r, "iree"))
            text += (f"; IREE: {len(against)} modules, geometric mean {mean(speed(r, 'iree') for r in against):.2f}, worst {speed(worst, 'iree'):.2f} "
                     f"({worst['module']}), {sum(speed(r, 'iree') < 0.9 for r in against)} below 0.9")
        lines.append(text)
    return "\n".join(lines)


def peaks_line(m):
    p = m["peaks"]
    rates = ", ".join(f"{k.replace('_', ' ')} {p[k]:.0f}" for k in ("f32", "f64", "f16", "bf16", "bf16_tile", "s8", "s8_tile") if k in p)
    moved = ", ".join(f"{k.replace('_', ' ')} {p[k]:.0f}" for k in p if k.endswith(("_read", "_copy")))
    return f"Peaks on {m['cores']} core(s), measured in this run: multiply-adds, GFLOP/s: {rates}; GB/s: {moved}."


def markdown(rows, machines):
    """The whole table, the slowest first, for each number of processors."""
    out = []
    for m in machines:
        mine = [r for r in rows if r["cores"] == m["cores"]]
        with_iree = any(r.get("iree") for r in mine)
        out += [f"{m['date']} UTC, {m['commit']}, {m['processor']}, jaxlib {m['jaxlib']}. " + peaks_line(m), "", summary(mine) + ".", "",
                "| module | ours ms | XLA ms | speed |" + (" IREE |" if with_iree else "") + " rate | of peak | compile | memory | difference |",
                "|---|--:|--:|--:|" + ("--:|" if with_iree else "") + "--:|--:|--:|--:|--:|"]
        for r in sorted(mine, key=lambda r: (speed(r) or (0 if "error" in r["ours"] else 1e9))):
            ours, xla = r["ours"], r["xla"]
            text, share = rate(r, m["peaks"])
            compile_ratio = xla["compile_s"] / ours["compile_s"] if "compile_s" in xla and ours.get("compile_s") else None
            memory = (xla["temp_bytes"] + 4096) / (ours["arena_bytes"] + 4096) if "temp_bytes" in xla and "arena_bytes" in ours else None
            iree = [figure(speed(r, "iree")) or "-"] if with_iree else []
            error = short_error(ours) or short_error(xla)
            cells = [r["module"], figure(ours.get("run_ms_min"), ".4g"), figure(xla.get("run_ms_min"), ".4g"), figure(speed(r)) or error, *iree,
                     text, figure(share, ".0%"), figure(compile_ratio, ".1f"), figure(memory, ".1f"), figure(r.get("difference"), ".1e")]
            out.append("| " + " | ".join(cells) + " |")
        out.append("")
    return "\n".join(out)


def by_family(rows):
    """{family: {cores: (modules, geometric mean, worst speed, worst module)}}"""
    table = {}
    for r in rows:
        if speed(r):
            table.setdefault(family(r), {}).setdefault(r["cores"], []).append(r)
    return {f: {c: (len(rs), mean(map(speed, rs)), min(map(speed, rs)), min(rs, key=speed)["module"]) for c, rs in of.items()} for f, of in table.items()}


def family_table(rows):
    cores = sorted({r["cores"] for r in rows})
    table = by_family(rows)
    head = "".join(f" {c} core{'s' if c > 1 else ''} | worst |" for c in cores)
    out = ["| family | modules |" + head, "|---|--:|" + "--:|--:|" * len(cores)]
    for name, of in table.items():
        cells = [f"{figure(of[c][1]) if c in of else ''} | {figure(of[c][2]) if c in of else ''}" for c in cores]
        out.append(f"| {name} | {max(n for n, *_ in of.values())} | " + " | ".join(cells) + " |")
    total = [f"**{figure(mean(speed(r) for r in rows if r['cores'] == c))}** | **{figure(min((speed(r) for r in rows if r['cores'] == c and speed(r)), default=None))}**" for c in cores]
    out.append(f"| all | {len({r['module'] for r in rows})} | " + " | ".join(total) + " |")
    return "\n".join(out)


def write_table(path, rows, machines):
    with open(path, "w") as file:
        file.write("# Speed against XLA:CPU: XLA's time over ours; above 1 we are faster\n\n" + family_table(rows) + "\n\n" + markdown(rows, machines))


def write_svg(path, rows, machines):
    """A chart: families down, speed across on a logarithmic scale; a dot per module, a bar for the geometric mean."""
    names, cores = list(by_family(rows)), sorted({r["cores"] for r in rows})
    colours = {c: colour for c, colour in zip(cores, ("#2166ac", "#d6604d", "#4d9221", "#762a83"))}
    left, width, step, top = 130, 700, 22 * max(1, len(cores)), 60
    height = top + step * len(names) + 50
    low, high = 0.25, 64.0
    across = lambda v: left + width * (math.log(min(max(v, low), high)) - math.log(low)) / (math.log(high) - math.log(low))
    out = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{left + width + 40}" height="{height}" font-family="sans-serif" font-size="13">',
           f'<rect width="{left + width + 40}" height="{height}" fill="white"/>',
           f'<text x="{left}" y="22" font-size="16">Speed against XLA:CPU (its time over ours; each dot a module, each bar a geometric mean)</text>']
    for i, c in enumerate(cores):
        out.append(f'<circle cx="{left + 6 + 110 * i}" cy="38" r="5" fill="{colours[c]}"/><text x="{left + 16 + 110 * i}" y="43">{c} core{"s" if c > 1 else ""}</text>')
    for v in (0.25, 0.5, 1, 2, 4, 8, 16, 32, 64):
        x = across(v)
        out.append(f'<line x1="{x:.1f}" x2="{x:.1f}" y1="{top - 8}" y2="{height - 40}" stroke="{"#000" if v == 1 else "#ddd"}"/>'
                   f'<text x="{x:.1f}" y="{height - 22}" text-anchor="middle">{v:g}x</text>')
    for row_number, name in enumerate(names):
        y = top + step * row_number
        out.append(f'<text x="{left - 10}" y="{y + step / 2 + 4:.1f}" text-anchor="end">{html.escape(name)}</text>')
        for i, c in enumerate(cores):
            mine = [r for r in rows if r["cores"] == c and speed(r) and family(r) == name]
            middle = y + step * (i + 0.5) / len(cores)
            for r in mine:
                out.append(f'<circle cx="{across(speed(r)):.1f}" cy="{middle:.1f}" r="4" fill="{colours[c]}" fill-opacity="0.45">'
                           f'<title>{html.escape(r["module"])}: {speed(r):.2f}</title></circle>')
            if mine:
                x = across(mean(map(speed, mine)))
                out.append(f'<rect x="{x - 1.5:.1f}" y="{middle - 9:.1f}" width="3" height="18" fill="{colours[c]}"/>')
    out.append("</svg>")
    with open(path, "w") as file:
        file.write("\n".join(out) + "\n")


BEGIN, END = "<!-- performance: test/performance/run.py --readme writes what follows -->", "<!-- performance ends -->"


def write_readme(readme, results, chart, rows, machines):
    """Writes the full table and the chart to this folder, and the table by family between the marks in the README."""
    write_table(results, rows, machines)
    write_svg(chart, rows, machines)
    m = machines[0]
    shares = []
    for name in ("dot_1024_f32", "dot_512_f64", "dot_1024_bf16", "dot_1024_s8_s32", "conv_3x3_56x56x64_f32", "skinny_1x2048x8192_bf16"):
        for r in rows:
            if r["module"] == name and r["cores"] == m["cores"] and rate(r, m["peaks"])[1]:
                shares.append(f"`{name}` {rate(r, m['peaks'])[1]:.0%}")
    against = [r for r in rows if r["cores"] == m["cores"] and speed(r, "iree")]
    iree = (f"Against IREE, which ran {len(against)} of them, the mean is {mean(speed(r, 'iree') for r in against):.1f} and {sum(speed(r, 'iree') < 0.9 for r in against)} are below 0.9. "
            if against else "")
    summary = (f"XLA:CPU's time (jaxlib {m['jaxlib']}) over ours, geometric mean and worst of each family, {m['processor']}, {m['date'].split()[0]}, commit {m['commit']}; "
               f"above 1 we are faster. {iree}Share of the peak that the same run measured, one core: {', '.join(shares)}.")
    block = (f"{BEGIN}\n{textwrap.fill(summary, 120, break_long_words=False, break_on_hyphens=False)}\n"
             f"Every module: [test/performance/RESULTS.md](test/performance/RESULTS.md).\n\n{family_table(rows)}\n\n"
             f"![Speed by family](test/performance/results.svg)\n{END}")
    with open(readme) as file:
        text = file.read()
    if BEGIN in text:
        text = text[:text.index(BEGIN)] + block + text[text.index(END) + len(END):]
    else:
        text = text.rstrip("\n") + "\n\n## Speed\n\n" + block + "\n"
    with open(readme, "w") as file:
        file.write(text)
