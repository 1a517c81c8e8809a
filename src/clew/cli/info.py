"""What there is: `clew info` of an index, `clew methods`, `clew vocabulary`, `clew doctor`."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from clew.cli.console import FAILED, Bar, escape, explained_wait, out, put, write, write_json
from clew.cli.model import ModelOptions, opened_model
from clew.cli.opening import (
    Json,
    LlmSpec,
    Quiet,
    SourceArgument,
    SourceOptions,
    open_source,
    reading_notes,
    waiting_note,
)
from clew.cli.options import option, with_options
from clew.errors import UsageError
from clew.opening.environment import neo4j_address, neo4j_login
from clew.stores.opening import is_address, shown_address
from clew.text.normalise import byte_size, counted

if TYPE_CHECKING:
    from clew.index.info import Info, RelationInfo, TypeShare


@with_options
def info(
    source: SourceArgument,
    *,
    reading: SourceOptions,
    verify: bool = option(False, "Read all files of the index and compare their checksums."),
    json: Json = False,
) -> None:
    """Show what an index holds: counts, relations with examples and types, embedder, size, sources."""
    from clew.index.info import info_of
    from clew.index.store.directory import open_index
    from clew.opening.graph_view import is_index

    files, index = 0, Path(source)
    if verify and not is_index(index):
        raise UsageError(f"{source} is no index: --verify is for what clew index has written")
    if is_index(index) and (verify or (reading.embedder is None and reading.format is None)):
        # An index whose embedder is not at hand can be described too.
        opened = open_index(index, verify=verify)
        files, description = len(opened.manifest.files), info_of(opened)
    else:
        with open_source(source, reading) as clew:
            description = clew.info()
    if json:
        write_json(description.as_json() | ({"verified_files": files} if verify else {}))
        return
    if verify:
        put(out(), escape(f"{description.path}: all {files:,} files are as they were written"))
    print_info(description)


def print_info(description: Info) -> None:
    """Print what an index holds, and its larger relations."""
    console = out()
    for line in _facts(description):
        put(console, escape(line))
    for relation in description.relations[:40]:
        title, *details = _relation_lines(relation)
        console.print()
        put(console, escape(title), "bold")
        for line in details:
            put(console, escape(line))
    omitted = len(description.relations) - 40
    if omitted > 0:
        console.print(f"\n… and {counted(omitted, 'more relation')}; --json prints all")


def _facts(description: Info) -> list[str]:
    counts, embedder = description.counts, description.embedder
    literals = f", {counted(counts['literals'], 'literal')}" if counts["literals"] else ""
    names = [f"{name} {members:,}" for name, members in description.types.items()]
    omitted = f" … and {len(names) - 12:,} more; --json prints all" if len(names) > 12 else ""
    inferred = "none declared; those below are inferred from the relations of the entities"
    types = ", ".join(names[:12]) + omitted if names else inferred
    lines = [
        f"{description.path}: {byte_size(description.bytes)}, "
        f"made {description.created} by Clew {description.clew}",
        f"triples    {counts['triples']:,}",
        f"entities   {counts['entities']:,}{literals}",
        f"relations  {counts['relations']:,}",
        f"types      {types}",
        f"aliases    {counts['aliases']:,}",
    ]
    if embedder is not None:
        kind = f"{embedder.dimension} dimensions, {embedder.fingerprint}"
        lines.append(f"embedder   {embedder.name} ({kind})")
    if description.vectors["names"] == "milvus":
        lines.append("vectors    are in Milvus")
    for source in description.sources:
        lines.append(f"{source.role:<10} {source.path} ({source.format}, {byte_size(source.bytes)})")
    if description.corpus is not None:
        lines += _corpus_lines(description.corpus)
    if description.updates:
        update = description.updates[-1]
        edits = f"{counted(update['added'], 'triple')} added, {update['removed']:,} removed by the last"
        lines.append(f"updates    {edits}")
    if description.report.get("duplicates"):
        lines.append(f"{counted(description.report['duplicates'], 'duplicate triple')} merged")
    return lines + reading_notes(description.report)


def _corpus_lines(corpus: Mapping[str, Any]) -> list[str]:
    """Say how entities were walked, what the cap cut, by whom walks are said and where their vectors are."""
    walk_kind = f"{corpus['kind']}, depth {corpus['depth']}{', directed' if corpus['directed'] else ''}"
    walk_kind += ", plain vectors" if corpus["plain"] else ""
    notes = [f"           vectors are searched by {corpus['vectors']}"]
    if corpus["model"] is not None:
        failed = f", but {corpus['unsaid']:,} by templates, where it failed" if corpus["unsaid"] else ""
        notes.append(f"           walks are said by {corpus['model']}{failed}")
    cut = 0
    if corpus["kind"] == "random":
        walks = f"{counted(corpus['made'], 'walk')}, {corpus['distinct']:,} without repeats"
    else:
        walks = f"{counted(corpus['distinct'], 'walk')}, at most {corpus['max_walks']} of an entity"
        cut = corpus["drawn"] + corpus["undecided"]
    if cut:
        of, omitted = f"{cut:,} of {corpus['roots']:,} entities", f"{corpus['triples_left_out']:,}"
        notes.insert(0, f"           the cap cut the trees of {of}, and {omitted} of their own triples")
    return [f"corpus     {walk_kind}: {walks}", *notes]


def _relation_lines(relation: RelationInfo) -> list[str]:
    example = f"{relation.example.head} → {relation.example.tail}"
    example = example if len(example) <= 80 else example[:80] + "…"
    return [
        f"{relation.label}   {counted(relation.triples, 'triple')}   {example}",
        f"  {counted(relation.heads, 'head')}: {_signature(relation.head_types)}",
        f"  {counted(relation.tails, 'tail')}: {_signature(relation.tail_types)}",
    ]


def _signature(types: Sequence[TypeShare]) -> str:
    from clew.foundation.forms import local_name

    return " · ".join(f"{type_.share:.0%} {local_name(type_.type)}" for type_ in types) or "no type"


def methods(
    name: Annotated[str | None, typer.Argument(metavar="METHOD", help="One of them alone.")] = None,
    *,
    json: Json = False,
) -> None:
    """List the methods, and the settings that each takes: `--set NAME=VALUE`."""
    from clew.methods.registry import METHODS

    if name is not None and name not in METHODS:
        raise UsageError(f"There is no method {name!r}. There are: {', '.join(METHODS)}")
    rows = [_row(method) for method in METHODS if name in (None, method)]
    if json:
        write_json({"methods": rows})
        return
    for row in rows:
        model = "needs a chat model" if row["needs_model"] else "works without a chat model"
        put(out(), f"{row['name']}  ({model})", "bold")
        for setting in row["settings"]:
            default = "" if setting["default"] is None else f" [{setting['default']}]"
            section = f"; {setting['section']}" if setting["section"] else ""
            put(out(), escape(f"  {setting['name']}{default}: {setting['help']}{section}"))


def _row(method: str) -> dict[str, Any]:
    from clew.methods.registry import METHODS
    from clew.methods.settings import options_of

    spec = METHODS[method]
    kind = spec.settings_class()
    settings = [
        {
            "name": name,
            "help": option.help,
            "type": option.kind.__name__,
            "default": option.unset or None if default is None else default,
            "choices": list(option.choices),
            "least": option.least,
            "most": option.most,
            "section": option.section,
        }
        for name, (option, default) in ({} if kind is None else options_of(kind)).items()
    ]
    return {"name": method, "needs_model": spec.needs_model, "settings": settings}


@with_options
def vocabulary(
    source: Annotated[str, typer.Argument(metavar="INDEX", help="An index (NAME.clew).")],
    *,
    set: Path | None = option(None, "Check a vocabulary, and keep it.", "FILE.toml"),
    llm: LlmSpec = None,
    calling: ModelOptions,
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Print the vocabulary of an index as a file to correct, or set it.

    What is set stands as it is; what Clew infers stands behind #. With --llm a model drafts what names stand
    for, each marked as a draft. It is sent names with sample values.
    """
    from clew.engine import Clew

    if llm is not None and (set is not None or json):
        raise UsageError("--llm writes a draft. Leave it out with --set and --json")
    with opened_model(llm, calling) as model, Clew.open(source) as clew:
        if set is None:
            if json:
                write_json(clew.vocabulary.as_json())
                return
            with explained_wait(waiting_note(model), quiet=quiet):
                text = clew.draft_vocabulary(model)
            write(text.rstrip())
            return
        with Bar(quiet=quiet):
            report = clew.set_vocabulary(set)
    if json:
        write_json(report.as_json())
    elif not quiet:
        named = f"{counted(report.named, 'name')} and {counted(report.terms, 'term')}"
        write(f"{source}: {named}, {counted(report.triples, 'triple')} that terms stand for")


LABEL_WIDTH = len("structured output")


@with_options
def doctor(
    llm: LlmSpec = None,
    store: str | None = option(
        None, "A database, neo4j://… or sparql+https://…; $NEO4J_URI if nothing is named.", "URL"
    ),
    json: Json = False,
) -> None:
    """Check a chat model, a database, or both, and say what to do about what is wrong.

    Settings, server, key and replies of the model, with at most five short calls; server, user, database,
    schema and speed of the database, which is only read. Exit code 1 means that a check failed.
    """
    address = store or (neo4j_address() if llm is None else None)
    if llm is None and address is None:
        raise UsageError(
            "Nothing to check. Write: clew doctor --llm ollama/llama3.1, or --store neo4j://host:7687"
        )
    checks: list[dict[str, str]] = []
    if llm is not None:
        from clew.llm import settings_from
        from clew.llm.open import doctor as checked

        with explained_wait("the model is asked"):
            checks += [asdict(check) for check in checked(settings_from(os.environ, llm))]
    if address is not None:
        from clew.stores.doctor import check_store

        if not is_address(address):
            raise UsageError(
                f"{address!r} is no address. Write neo4j://host:7687 or sparql+https://host/path"
            )
        with explained_wait("the database is asked"):
            checks += [check._asdict() for check in check_store(address, neo4j_login())]
    failed = any(check["state"] == "failed" for check in checks)
    if json:
        address_text = None if address is None else shown_address(address)
        write_json({"model": llm, "store": address_text, "ok": not failed, "checks": checks})
    else:
        for check in checks:
            write(escape(f"{check['state']:<7}  {check['name']:<{LABEL_WIDTH}}  {check['detail']}"))
    if failed:
        raise typer.Exit(FAILED)
