"""Makes the font of formulas. Run by hand, as fontgen.py is:

    python3 mathgen.py node_modules/@fontsource/stix-two-math ../../../../../.cache/script/node_modules/temml ../../fonts/math

STIX Two Math, cut to what formulas can hold: the characters that the converter
from TeX names, the alphabets of mathematics, and with each the larger forms and
parts of its table MATH. What most formulas need is one file, the rest another.
"""
import pathlib
import re
import sys

from fontTools import subset
from fontTools.ttLib import TTFont

# Latin, Greek, letterlike, arrows, operators; bold, italic, script, Fraktur and
# double-struck letters.
MAIN = [(0x20, 0x7E), (0xA0, 0xFF), (0x300, 0x338), (0x370, 0x3FF), (0x2010, 0x2057), (0x20D0, 0x20EF), (0x2100, 0x214F), (0x2190, 0x22FF), (0x2308, 0x230B),
        (0x2329, 0x232A), (0x23B0, 0x23B5), (0x23DC, 0x23E1), (0x27E6, 0x27EF), (0x1D400, 0x1D4CF), (0x1D504, 0x1D56B), (0x1D6A4, 0x1D755), (0x1D7CE, 0x1D7E1)]


def mend(font):
    """Turns the connectors of a last part round that has its only one at its free
    end: Chromium then joins nothing, and an arrow to the right stays short."""
    variants = font["MATH"].table.MathVariants
    for constructions in (variants.HorizGlyphConstruction, variants.VertGlyphConstruction):
        for c in constructions or []:
            parts = c.GlyphAssembly.PartRecords if c.GlyphAssembly else []
            if len(parts) > 1 and parts[-1].StartConnectorLength == 0 < parts[-1].EndConnectorLength:
                parts[-1].StartConnectorLength, parts[-1].EndConnectorLength = parts[-1].EndConnectorLength, 0
                print("mended", parts[-1].glyph)
            if len(parts) > 1 and parts[0].EndConnectorLength == 0 < parts[0].StartConnectorLength:
                parts[0].StartConnectorLength, parts[0].EndConnectorLength = 0, parts[0].StartConnectorLength
                print("mended", parts[0].glyph)


def cut(source, want, target):
    font = TTFont(source)
    mend(font)
    font["name"].names = [n for n in font["name"].names if n.nameID in (0, 13, 14)]
    font["name"].setName("Bindery Math", 1, 3, 1, 0x409)
    options = subset.Options()
    options.flavor = "woff2"
    options.layout_features = ["ccmp"]
    options.name_IDs = [0, 1, 13, 14]
    options.hinting = False
    options.recalc_timestamp = False
    s = subset.Subsetter(options)
    s.populate(unicodes=want)
    s.subset(font)
    font.recalcTimestamp = False
    font.flavor = "woff2"
    font.save(target, reorderTables=True)
    print(f"{target}: {target.stat().st_size} bytes, {len(want)} characters")


def main(package, converter, out):
    package, out = pathlib.Path(package), pathlib.Path(out)
    source = package / "files" / "stix-two-math-latin-400-normal.woff2"
    text = "".join(f.read_text() for f in sorted(pathlib.Path(converter).glob("src/**/*.js")))
    escaped = {int(c, 16) for c in re.findall(r"\\u\{?([0-9A-Fa-f]{4,5})", text)}
    named = {ord(c) for c in text} | escaped | set(range(0x1D400, 0x1D800))
    frequent = {c for a, b in MAIN for c in range(a, b + 1)}
    has = set(TTFont(source).getBestCmap())
    cut(source, frequent & has, out / "math.woff2")
    cut(source, (named - frequent) & has, out / "math-more.woff2")
    print(",".join("U+%X-%X" % r for r in MAIN))
    (out / "licence.txt").write_text(
        "Bindery Math: cut from STIX Two Math (@fontsource/stix-two-math).\n\n"
        + (package / "LICENSE").read_text()
    )


if __name__ == "__main__":
    main(*sys.argv[1:4])
