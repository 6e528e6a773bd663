"""The ``repgeo`` command. Bad input is one sentence on stderr and exit code 2."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any

import click

from explorer.errors import ExplorerError


class _Sentences(click.Group):
    """Turn errors that people are meant to read into one line on stderr."""

    def invoke(self, ctx: click.Context) -> Any:
        try:
            return super().invoke(ctx)
        except ExplorerError as error:
            click.echo(f"repgeo: {error}", err=True)
            ctx.exit(2)


def _progress(share: float, note: str) -> None:
    if sys.stderr.isatty():
        click.echo(f"\r{share:6.1%}  {note:<70}", err=True, nl=share >= 1)


@click.group(cls=_Sentences)
@click.version_option(package_name="representation-geometry-explorer")
def main() -> None:
    """Look into the geometry of neural representations."""


@main.command()
@click.option("--port", default=8501, show_default=True, help="Port of the local server.")
@click.option("--store", type=click.Path(path_type=Path), help="Store to write to (default: in the user's cache).")
@click.option("--headless", is_flag=True, help="Do not open a browser.")
def demo(port: int, store: Path | None, headless: bool) -> None:
    """Open the app on the bundled data."""
    from explorer.paths import bundle_root

    if store is not None:
        os.environ["REPGEO_STORE"] = str(store)
    root = bundle_root()
    options = ["--server.port", str(port), "--server.headless", str(headless).lower()]
    options += [
        "--server.address",
        "127.0.0.1",
        "--browser.gatherUsageStats",
        "false",
        "--server.fileWatcherType",
        "none",
    ]
    os.chdir(root)
    os.execv(sys.executable, [sys.executable, "-m", "streamlit", "run", str(root / "app.py"), *options])  # noqa: S606


@main.command()
@click.option("--model", required=True, help="Bundled net, packaged model, or Hugging Face folder or cached id.")
@click.option("--dataset", required=True, help="Bundled set, or a .txt, .csv, .tsv, .jsonl, .parquet, or image folder.")
@click.option("--layers", default="all", show_default=True, help="all, or names and globs separated by commas.")
@click.option("--pool", "pooling", default=None, help="mean, last, first, flatten (default: the model's own).")
@click.option("--batch-size", default=32, show_default=True, type=int)
@click.option("--store", required=True, type=click.Path(path_type=Path))
def extract(model: str, dataset: str, layers: str, pooling: str | None, batch_size: int, store: Path) -> None:
    """Run a model over a dataset and keep its layers."""
    from explorer.datasets import load_dataset
    from explorer.extraction import extract as run
    from explorer.models import load_model
    from explorer.store import Store

    opened, items = Store(store), load_dataset(dataset)
    done = run(load_model(model), items, opened, layers, pooling, batch_size, report=_progress)
    rate = f"{done.items_per_second:.0f} items/s" if done.seconds else done.note
    click.echo(f"{len(done.layers)} layers of {model} on {len(items)} items of {items.name}: {rate} -> {done.file}")
    if done.seconds and done.note:
        click.echo(done.note)


@main.command(name="import")
@click.argument("files", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option("--store", required=True, type=click.Path(path_type=Path))
@click.option("--dataset", default=None, help="The dataset that the rows are the items of (bundled name or file).")
def import_(files: tuple[Path, ...], store: Path, dataset: str | None) -> None:
    """Import activations that another tool saved (.npy, .npz, .safetensors)."""
    from explorer.datasets import load_dataset
    from explorer.formats import read_activations
    from explorer.store import Store

    opened = Store(store)
    items = load_dataset(dataset) if dataset is not None else None
    found = [read_activations(file) for file in files]
    for file, each in zip(files, found):
        if items is not None and len(items) != each.n_items:
            raise ExplorerError(f"{file.name} has {each.n_items} items but dataset {items.name} has {len(items)}.")
        if found[0].n_items != each.n_items and items is None:
            raise ExplorerError(
                f"{file.name} has {each.n_items} items and {files[0].name} has {found[0].n_items}; import them apart."
            )
    shared = f"{files[0].stem} ({found[0].n_items} items)"
    for file, each in zip(files, found):
        name = items.name if items is not None else shared
        target = each.save(opened, items.fingerprint if items is not None else None, name)
        left = f"; left out: {'; '.join(each.skipped)}" if each.skipped else ""
        click.echo(f"{file.name}: {len(each.layers)} layer(s) of {each.n_items} items -> {target}{left}")


@main.command()
@click.option("--store", required=True, type=click.Path(path_type=Path))
@click.option("--measures", required=True, help="Ids separated by commas; see `repgeo measures`.")
@click.option("--dataset", default=None, help="Only representations of this dataset.")
@click.option("--out", required=True, type=click.Path(path_type=Path), help="Parquet file for the table of results.")
@click.option(
    "--workers", default=1, show_default=True, type=int, help="Processes on this machine that share the work."
)
@click.option("--scheduler", default=None, help="Address of a Dask scheduler (not in this version).")
def sweep(store: Path, measures: str, dataset: str | None, out: Path, workers: int, scheduler: str | None) -> None:
    """Compute measures over everything in a store."""
    from explorer.files import write_atomic
    from explorer.store import Store
    from explorer.sweep import sweep_store

    if scheduler is not None:
        raise ExplorerError("--scheduler is not available in this version; leave it out to sweep on this machine.")
    if not store.is_dir():
        raise ExplorerError(f"There is no store at {store}.")
    wanted = [name.strip() for name in measures.split(",") if name.strip()]
    if not wanted:
        raise ExplorerError("--measures names no measure; see `repgeo measures`.")
    frame = sweep_store(Store(store), wanted, dataset, workers, report=_progress)
    write_atomic(out, lambda path: frame.write_parquet(path))
    undefined = frame["value"].is_nan().sum()
    click.echo(f"{frame.height} results ({undefined} undefined) -> {out}")


@main.command(name="measures")
def measures_() -> None:
    """List the catalogue of measures."""
    from explorer.measures.registry import registry

    for measure in registry().values():
        options = ", ".join(f"{p.name}={p.default}" for p in measure.parameters)
        click.echo(f"{measure.id:20} {measure.kind:9} {measure.family:11} {measure.name} ({measure.year})  {options}")


@main.command()
@click.argument("measures", nargs=-1)
@click.option("--packages", is_flag=True, help="Also list where public packages give other values, and why.")
def verify(measures: tuple[str, ...], packages: bool) -> None:
    """Recompute the measures on the reference cases; exit code 1 when a value is off."""
    from explorer.verification import differences
    from explorer.verification import verify as run

    table = run(measures or None, report=_progress)
    for row in table.iter_rows(named=True):
        mark = "ok " if row["agrees"] else "OFF"
        click.echo(
            f"{mark} {row['measure']:22} {row['ours']:>14.9g} {row['reference']:>14.9g}  {row['case']}  {row['parameters']}"
        )
    if packages:
        for row in differences(measures or None).iter_rows(named=True):
            click.echo(
                f"    {row['measure']:22} {row['package']}: {row['theirs']:.6g} for {row['right']:.6g} ({row['case']}): {row['why']}"
            )
    off = table.height - int(table["agrees"].sum())
    click.echo(
        f"{table.height - off} of {table.height} reference values agree, {table['measure'].n_unique()} measures."
    )
    if off:
        sys.exit(1)


if __name__ == "__main__":
    main()
