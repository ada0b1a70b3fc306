"""Makes the fonts that package fonts embeds. Run by hand when the set is to
change:

    npm ci                                  # in this folder: the pinned sources
    pip install -r requirements.txt
    python3 fontgen.py node_modules/@fontsource-variable ../../fonts

For each family it writes one WOFF2 a script, cut to what documentation needs:
weights 400 to 700, the characters of KEEP, the features of FEATURES. The table
beside them (fonts.json) says what each file covers and how a font that every
system has is scaled so that text keeps its place while the real one loads.
The same versions give the same bytes. widths.bin holds how wide characters are,
for drawings whose boxes are made at export; "fontgen.py - ../../fonts" writes it
alone, from the files that are there.
"""
import io
import json
import pathlib
import struct
import sys

from fontTools import subset
from fontTools.ttLib import TTFont
from fontTools.varLib import instancer

# id, family, kind, whether an italic is worth its weight (running text), and a
# name of our own where the original's is reserved for unchanged fonts (a clause
# of some Open Font Licences; cut refuses such a font without one).
FAMILIES = [
    ("source-sans-3", "Source Sans 3", "sans", True, "Bindery Sans"),
    ("source-serif-4", "Source Serif 4", "serif", False, "Bindery Serif"),
    ("source-code-pro", "Source Code Pro", "mono", False, "Bindery Code"),
    ("inter", "Inter", "sans", True, None),
    ("ibm-plex-sans", "IBM Plex Sans", "sans", True, None),
    ("open-sans", "Open Sans", "sans", True, None),
    ("dm-sans", "DM Sans", "sans", True, None),
    ("figtree", "Figtree", "sans", True, None),
    ("geist", "Geist", "sans", False, None),
    ("manrope", "Manrope", "sans", False, None),
    ("space-grotesk", "Space Grotesk", "sans", False, None),
    ("jetbrains-mono", "JetBrains Mono", "mono", False, None),
]

# What is kept of each script's slice. latin-ext stops where European
# languages do: the rest is phonetics.
KEEP = {
    "latin": [(0x20, 0xFF), (0x131, 0x131), (0x152, 0x153), (0x2BB, 0x2BC), (0x2C6, 0x2C6), (0x2DA, 0x2DA), (0x2DC, 0x2DC), (0x2000, 0x206F), (0x20AC, 0x20AC), (0x2122, 0x2122), (0x2212, 0x2215)],
    "latin-ext": [(0x100, 0x24F), (0x1E00, 0x1E9F), (0x1EF2, 0x1EF3), (0x20A0, 0x20C0)],
    "vietnamese": [(0x102, 0x103), (0x110, 0x111), (0x128, 0x129), (0x168, 0x169), (0x1A0, 0x1A1), (0x1AF, 0x1B0), (0x300, 0x301), (0x303, 0x304), (0x308, 0x309), (0x323, 0x323), (0x329, 0x329), (0x1EA0, 0x1EF9), (0x20AB, 0x20AB)],
    "greek": [(0x370, 0x3FF)],
    "cyrillic": [(0x301, 0x301), (0x400, 0x45F), (0x490, 0x491), (0x4B0, 0x4B1), (0x2116, 0x2116)],
}
FEATURES = ["kern", "mark", "mkmk", "ccmp", "locl", "calt", "case", "tnum", "lnum", "frac", "sups"]
CODE_FEATURES = ["mark", "mkmk", "ccmp", "locl"]  # ligatures would change what code says

# How often letters stand in English text, in percent, and the mean advance of
# Arial and Times New Roman under these weights, in em (taken from Liberation
# Sans and Serif, which have the same widths).
LETTERS = dict(zip("etaoinshrdlcumwfgypbvkjxqz ", [12.7, 9.1, 8.2, 7.5, 7.0, 6.7, 6.3, 6.1, 6.0, 4.3, 4.0, 2.8, 2.8, 2.4, 2.4, 2.2, 2.0, 2.0, 1.9, 1.5, 1.0, 0.8, 0.15, 0.15, 0.1, 0.07, 18.0]))
FALLBACK = {"sans": 0.44706, "serif": 0.40521}


def ranges(script):
    """CSS unicode-range of a script. It may name characters that a family does
    not have: the browser then looks further, as without the family."""
    return ",".join("U+%X" % a if a == b else "U+%X-%X" % (a, b) for a, b in KEEP[script])


def cut(source, script, kind, name):
    """The slice of one script: its bytes, the font, its copyright."""
    font = TTFont(source)
    copyright = font["name"].getDebugName(0) or ""
    if "reserved font name" in copyright.lower() and not name:
        sys.exit(f"{source}: {copyright}: needs a name of its own")
    if name:
        font["name"].names = [n for n in font["name"].names if n.nameID in (0, 13, 14)]
        font["name"].setName(name, 1, 3, 1, 0x409)
    limits = {a.axisTag: (max(400, a.minValue), min(700, a.maxValue)) for a in font["fvar"].axes if a.axisTag == "wght"}
    # Written and read once more: the instancer leaves glyphs without outlines
    # out of a table that the subsetter expects whole.
    limited = io.BytesIO()
    font = instancer.instantiateVariableFont(font, limits)
    font.flavor = None
    font.save(limited)
    font = TTFont(limited)
    want = {c for a, b in KEEP[script] for c in range(a, b + 1)} & set(font.getBestCmap())
    options = subset.Options()
    options.flavor = "woff2"
    options.layout_features = CODE_FEATURES if kind == "mono" else FEATURES
    options.name_IDs = [0, 1, 2, 13, 14]  # copyright and licence stay
    options.notdef_outline = True
    options.hinting = False
    options.recalc_timestamp = False
    s = subset.Subsetter(options)
    s.populate(unicodes=want)
    s.subset(font)
    font.recalcTimestamp = False
    font.flavor = "woff2"
    out = io.BytesIO()
    font.save(out, reorderTables=True)
    return out.getvalue(), font, copyright


def metrics(font, kind):
    """Overrides for the stand-in, in percent; none for code."""
    if kind not in FALLBACK:
        return None
    cmap, em = font.getBestCmap(), font["head"].unitsPerEm
    mean = sum(font["hmtx"][cmap[ord(c)]][0] * w for c, w in LETTERS.items()) / sum(LETTERS.values()) / em
    size = mean / FALLBACK[kind]
    hhea = font["hhea"]
    percent = lambda x: round(100 * x, 2)
    return {"size": percent(size), "ascent": percent(hhea.ascent / em / size), "descent": percent(-hhea.descent / em / size), "lineGap": percent(hhea.lineGap / em / size)}


def widths(out, table):
    """The advances of each family at the weights 400 and 700, in thousandths of an
    em: the number of characters, their code points in order, and for each family
    a pair of widths a character, 65535 where it has none. Big-endian, 16 bits."""
    points = sorted({c for slices in KEEP.values() for a, b in slices for c in range(a, b + 1)})
    data = [len(points), *points]
    for entry in table:
        have = {}
        for weight in (0, 1):
            for file in entry["files"]:
                if file["style"] != "normal":
                    continue
                font = TTFont(out / "data" / file["name"])
                font = instancer.instantiateVariableFont(font, {"wght": (400, 700)[weight]})
                em = font["head"].unitsPerEm
                for c, glyph in font.getBestCmap().items():
                    have.setdefault(c, [65535, 65535])[weight] = round(1000 * font["hmtx"][glyph][0] / em)
        for c in points:
            data += have.get(c, [65535, 65535])
    (out / "widths.bin").write_bytes(struct.pack(f">{len(data)}H", *data))


def main(packages, out):
    packages, out = pathlib.Path(packages), pathlib.Path(out)
    if str(packages) == "-":
        widths(out, json.loads((out / "fonts.json").read_text()))
        return
    table = []
    for ident, family, kind, italic, renamed in FAMILIES:
        folder = packages / ident
        entry = {"family": family, "name": renamed or family, "kind": kind, "files": []}
        for style in ["normal"] + (["italic"] if italic else []):
            for script in KEEP:
                source = folder / "files" / f"{ident}-{script}-wght-{style}.woff2"
                if not source.exists() or style == "italic" and script != "latin":
                    continue
                data, font, copyright = cut(source, script, kind, renamed)
                name = f"{ident}-{script}{'-italic' if style == 'italic' else ''}.woff2"
                (out / "data" / name).write_bytes(data)
                entry["files"].append({"name": name, "style": style, "range": ranges(script)})
                if script == "latin" and style == "normal":
                    entry["fallback"] = metrics(font, kind)
                print(f"{name}: {len(data)} bytes")
        table.append(entry)
        (out / "licences" / f"{ident}.txt").write_text(
            f"{entry['name']}: cut from {family} (@fontsource-variable/{ident}).\n{copyright}\n\n" + (folder / "LICENSE").read_text()
        )
    (out / "fonts.json").write_text(json.dumps(table, indent=1, ensure_ascii=False) + "\n")
    widths(out, table)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2])
