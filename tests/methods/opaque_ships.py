"""A shipping database whose columns have opaque names, beside two hundred columns that nothing asks for."""

from __future__ import annotations

from pathlib import Path

VESSELS = ("Bergen Star", "Halden", "Isar", "Lotte", "Medina", "Norna", "Olivia", "Petrel", "Quarta")
PORTS = ("Rotterdam", "Oslo", "Genoa", "Vigo")
OWNERS = ("Nordline", "Harms and Sons", "Corvo")
CARGO = ("Grain", "Crude oil", "Containers", "Timber", "Fertiliser")
MASTERS = ("Anna Berg", "Luis Cano", "Mette Friis")
COUNTRIES = ("Norway", "Germany", "Portugal")

NEEDED = {
    "Which vessel is the oldest?": "yr_built",
    "What goods does the Bergen Star carry?": "cgo_main",
    "Who is in command of the Bergen Star?": "mstr",
    "In which country is the owner of the Bergen Star based?": "hq_ctry",
    "Which ports did the Bergen Star call at?": "prt_dst",
    "Which inspection found the most defects?": "dfct_no",
}
"""Questions, and the relation without which nobody can answer them."""
FILLER_TYPES, FILLER_COLUMNS, FILLER_ROWS = 14, 24, 4


def rows_of() -> tuple[list[tuple[str, str, str]], list[tuple[str, str]]]:
    """Triples, and types."""
    triples: list[tuple[str, str, str]] = []
    types = [(v, "vessel") for v in VESSELS] + [(p, "port") for p in PORTS] + [(o, "company") for o in OWNERS]
    for i, vessel in enumerate(VESSELS):
        triples += [
            (vessel, "svc_spd_kn", str(11 + i * 1.5)),
            (vessel, "yr_built", str(1984 + 3 * i)),
            (vessel, "dwt_t", str(18_000 + 7_100 * i)),
            (vessel, "cgo_main", CARGO[i % len(CARGO)]),
            (vessel, "mstr", MASTERS[i % len(MASTERS)]),
            (vessel, "ownr_cd", OWNERS[i % len(OWNERS)]),
        ]
        for n in range(3):
            voyage, inspection = f"VOY-{3100 + 9 * i + n}", f"INS-{700 + 3 * i + n}"
            types += [(voyage, "voyage"), (inspection, "inspection")]
            triples += [
                (voyage, "vsl_ref", vessel),
                (voyage, "prt_dst", PORTS[(i + n) % len(PORTS)]),
                (voyage, "dep_dt", f"2024-{1 + i:02}-{3 + 5 * n:02}"),
                (inspection, "insp_vsl", vessel),
                (inspection, "dfct_no", str((5 * i + 3 * n) % 13)),
            ]
    triples += [(o, "hq_ctry", c) for o, c in zip(OWNERS, COUNTRIES, strict=True)]
    for t in range(FILLER_TYPES):
        for row in range(FILLER_ROWS):
            item = f"K{t:02}/{row}"
            types.append((item, f"ktab {t:02}"))
            triples += [
                (item, f"k{t:02}_fld_{c:02}", str(row * c + t) if c % 3 else f"v{(row + c) % 3} {t}")
                for c in range(FILLER_COLUMNS)
            ]
    return triples, types


def write(folder: Path) -> tuple[Path, Path]:
    """Write `ships.tsv` and `types.tsv`; returns their paths."""
    triples, types = rows_of()
    graph, types_file = folder / "ships.tsv", folder / "types.tsv"
    graph.write_text("".join("\t".join(row) + "\n" for row in triples), "utf-8")
    types_file.write_text("".join("\t".join(row) + "\n" for row in types), "utf-8")
    return graph, types_file
