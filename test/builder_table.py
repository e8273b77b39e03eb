#!/usr/bin/env python3
"""The table of the specification's sections: runs its examples, and compares docs/builder.md with it.

  builder_table.py PROGRAM SHARED [--write]

PROGRAM is build/bin/unit-builder-seed, whose rows name sections, functions, examples and errors. Checks that all rows
pass, that the page is what they give (--write writes it), and, if SHARED/seeds is there, that every section of every
document and every function that a document names has a row. The last line reads 'N passed, N failed'.
"""
import glob
import os
import re
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
PAGE = os.path.join(ROOT, "docs", "builder.md")
# The documents' names in the rows, by the first three characters of their files.
DOCUMENTS = {"000": "zh", "001": "tr", "002": "en", "003": "old", "004": "layout"}
DESCRIPTIONS = {"tr": "operations, the newest (Turkish)", "zh": "operations (Chinese)", "en": "operations (English)",
                "old": "operations, the first version (English)", "layout": "shapes and layouts (Chinese)"}
HEADER = """# The builder and the specification

What `hlo/builder.h` offers for each section of XLA's documents: four versions of the operation semantics, in three
languages, and the page on shapes and layouts. Every example below is built, printed, parsed, compiled, run and
compared, and every error is provoked, by `build/bin/unit-builder-seed` (sources: `test/unit/builder-seed`).
`x(1); x(2)` stands for one value per replica. This page is written by `test/builder_table.py`, which also checks that
no section lacks a row.

Arguments are in the documents' order; functions without operands take the builder, `b`, first. Where documents differ,
the newest decides: `ReducePrecision` takes the exponent's bits first, `Concatenate` is `ConcatInDim`. Older forms that
differ in their arguments (`Reshape` with an order of dimensions, `DynamicSlice` with one array of indices, `Gather` and
`Scatter` with their dimension numbers one by one, `Sort` without a comparator) are overloads.
"""
# Names of documents for functions that the builder has under another one.
RENAMED = {"BuildPartitionId": "PartitionId", "CreateAsyncStart": "AsyncStart", "CreateAsyncUpdate": "AsyncUpdate",
           "CreateAsyncDone": "AsyncDone", "Concatenate": "ConcatInDim", "CreateRng": "Rng", "LogicalNot": "Not"}


def markdown_titles(lines):
    """Titles below the document's own."""
    fenced, titles = False, []
    for line in lines:
        fenced ^= line.startswith("```")
        title = re.match(r"##+ +(.*\S)", line)
        if title and not fenced:
            titles.append(title[1])
    return titles


def is_title(line, words):
    return 0 < len(line) <= 60 and len(line.split()) <= words and not re.search(r"[|={};]|::|//|->", line) and \
        line[0] not in "-_(*\\[/0123456789"


def plain_titles(lines):
    """Titles of a document without markup: short lines that a reference to the builder, or a paragraph, follows."""
    titles = []
    for i, line in enumerate(lines):
        before, after = lines[i - 1] if i else "", (lines + ["", "", ""])[i + 1:i + 4]
        reference = after[0] or after[1]
        if not is_title(line, 8) or re.search(r"[a-zıüğşçö]{5}\.$", line) or line in ("Ayrıca", "Diyagram:"):
            continue
        refers = re.match(r"(Ayrıca|See also)\b|.{0,80}\b(XlaBuilder|HloInstruction)::\w+ ?$|.*supports these", reference)
        refers = refers or "tf.reshape işlemine" in reference
        # "Sin", "Sin(operand) ...", "Ayrıca XlaBuilder::Sin ..."
        refers = refers or (after[0].startswith(line + "(") and after[1].startswith("Ayrıca"))
        is_example = re.match(r"\w+ - Example \d", line)
        # A line that does not end as a sentence, between a paragraph and another one.
        stands_alone = is_title(line, 6) and re.search(r"[.:] ?$|^$|}$", before) and re.match(r"[A-ZÇĞİÖŞÜ]", line) and \
            not re.search(r"[,(.:]", line) and re.match(r"[A-ZÇĞİÖŞÜ]", after[0]) and len(after[0] + after[1]) > 60
        if refers or is_example or stands_alone:
            titles.append(line)
    return titles


def titles_of(path):
    with open(path, encoding="utf-8") as file:
        lines = [line.strip() for line in file.read().split("\n")]
    return markdown_titles(lines) if any(line.startswith("# ") for line in lines[:5]) else plain_titles(lines)


def functions_of(path):
    """Functions of the builder, and of instructions, that a document names in references and signatures."""
    with open(path, encoding="utf-8") as file:
        text = file.read()
    names = set(re.findall(r"(?:XlaBuilder|ComputationBuilder)::(\w+)", text))
    names |= {re.sub("^Create", "", name) for name in re.findall(r"HloInstruction::(\w+)", text)}
    names |= set(re.findall(r"^(?:<b>`? ?`?)?([A-Z]\w+)\((?=[a-z])[^()]*\)", text, re.M))
    names -= {"Op", "Combine", "Permute"}
    return {RENAMED.get(name, name) for name in names}


def rows_of(page):
    """[(name, sections, text)] of the program's page."""
    rows = []
    for part in page.split("\n## ")[1:]:
        name, _, text = part.partition("\n")
        sections = re.search(r"Sections: (.*?)\.\n\n", text, re.S)[1]
        rows.append((name, [tuple(s) for s in re.findall(r"(\w+): \*(.*?)\*", " ".join(sections.split()))], text))
    return rows


def index(rows):
    """Markdown tables, one for each document: section, rows."""
    text = ""
    for document, description in DESCRIPTIONS.items():
        named = {}
        for name, sections, _ in rows:
            for of, title in sections:
                if of == document:
                    named.setdefault(title, []).append(f"[{name}](#{name.lower()})")
        text += f"\n## Sections of `{document}`: {description}\n\n| section | rows |\n|---|---|\n"
        for title, links in named.items():
            # Lines have at most 120 columns.
            lines = [""]
            for link in links:
                if lines[-1] and len(lines[-1]) + len(link) > 60:
                    lines.append("")
                lines[-1] += (", " if lines[-1] else "") + link
            text += "".join(f"| {title if i == 0 else ''} | {line} |\n" for i, line in enumerate(lines))
    return text


def main():
    program, shared = [a for a in sys.argv[1:] if a != "--write"]
    passed, failures = 0, []
    with tempfile.TemporaryDirectory() as folder:
        written = os.path.join(folder, "page.md")
        run = subprocess.run([program, f"--page={written}"], capture_output=True, text=True, errors="replace", timeout=600)
        passed += len(re.findall(r"^\[       OK \]", run.stdout, re.M))
        failures += sorted(set(re.findall(r"^\[  FAILED  \] (Seed\.\w+)", run.stdout, re.M)))
        if failures or run.returncode:
            print(run.stdout[-20000:] + run.stderr[-2000:])
        if not os.path.exists(written):
            failures.append("the program wrote no page")
            rows = []
        else:
            with open(written, encoding="utf-8") as file:
                rows = rows_of(file.read())
    page = HEADER + index(rows) + "".join(f"\n## {name}\n{text.rstrip()}\n" for name, _, text in rows)
    if "--write" in sys.argv:
        with open(PAGE, "w", encoding="utf-8") as file:
            file.write(page)
    with open(PAGE, encoding="utf-8") as file:
        if file.read() == page:
            passed += 1
        else:
            failures.append("docs/builder.md is out of date: python3 test/builder_table.py build/bin/unit-builder-seed ../shared --write")
    documents = sorted(glob.glob(os.path.join(shared, "seeds", "*.txt")))
    if not documents:
        print(f"skipped sections: there is no {os.path.join(shared, 'seeds')}")
    known = set(re.findall(r"\b[A-Za-z]\w*", " ".join(text for _, _, text in rows)))
    for path in documents:
        document = DOCUMENTS.get(os.path.basename(path)[:3])
        if not document:
            failures.append(f"{os.path.basename(path)}: a document without a name in DOCUMENTS")
            continue
        titles = titles_of(path)
        named = {title for _, sections, _ in rows for of, title in sections if of == document}
        for title in titles:
            if title in named:
                passed += 1
            else:
                failures.append(f"{document}: no row for section '{title}'")
        failures += [f"{document}: a row names '{title}', which is no section" for title in sorted(named - set(titles))]
        for function in sorted(functions_of(path)):
            if function in known:
                passed += 1
            else:
                failures.append(f"{document}: no row for function {function}")
    for failure in failures:
        print(failure)
    print(f"{passed} passed, {len(failures)} failed")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
