"""Makes the system fonts that TestPagesWithoutTheirHelp brings, one folder a set. Run by
hand, in a folder with `npm i @fontsource/{arimo,tinos,noto-sans,noto-serif,roboto,comic-neue}`
and `pip install fonttools==4.68.0 brotli==1.2.1`, where Debian's fonts-dejavu is:

    python3 make.py node_modules/@fontsource .

Each is cut to what Bindery's own documentation says, without hints; the names
stay, since pages ask for them by name.
"""
import pathlib
import sys

from fontTools import subset
from fontTools.ttLib import TTFont

SETS = {
    "arial": ["arimo", "tinos"],
    "noto": ["noto-sans", "noto-serif"],
    "roboto": ["roboto"],
    "none": ["comic-neue"],
}
DEJAVU = ["DejaVuSans", "DejaVuSans-Bold", "DejaVuSerif", "DejaVuSerif-Bold"]


def cut(source, target):
    font = TTFont(source)
    options = subset.Options()
    options.layout_features = ["kern"]
    options.hinting = False
    options.notdef_outline = True
    s = subset.Subsetter(options)
    s.populate(unicodes=[*range(0x20, 0x7F), 0xA0, 0xA7, 0xB7, 0xD7, *range(0x2010, 0x2027), 0x2192])
    s.subset(font)
    font.flavor = None
    target.parent.mkdir(exist_ok=True)
    font.save(target)


def main(packages, out):
    packages, out = pathlib.Path(packages), pathlib.Path(out)
    for folder, families in SETS.items():
        for family in families:
            for weight in (400, 700):
                cut(packages / family / "files" / f"{family}-latin-{weight}-normal.woff2", out / folder / f"{family}-{weight}.ttf")
            (out / folder / f"{family}.txt").write_text((packages / family / "LICENSE").read_text())
    for name in DEJAVU:
        cut(f"/usr/share/fonts/truetype/dejavu/{name}.ttf", out / "dejavu" / f"{name}.ttf")
    licence = pathlib.Path("/usr/share/doc/fonts-dejavu-core/copyright")
    (out / "dejavu" / "dejavu.txt").write_text(licence.read_text())


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2])
