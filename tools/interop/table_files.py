"""What a PyIceberg table refers to, on a local disk or in a bucket, and whether it is there."""
import os
from urllib.parse import urlsplit

from pyarrow.fs import FileSelector, FileType
from pyiceberg.catalog import load_catalog
from pyiceberg.manifest import ManifestEntryStatus


def connect(uri, warehouse="main", **properties):
    return load_catalog("judge", type="rest", uri=uri, warehouse=warehouse, **properties)


def local_path(location):
    """The path behind a file location; None for one in a bucket."""
    parts = urlsplit(location)
    return None if parts.scheme not in ("", "file") else parts.path if parts.scheme else location


def exists(table, location):
    path = local_path(location)
    return os.path.exists(path) if path else table.io.new_input(location).exists()


def files_below(table, location):
    """Every location of an object below a folder, at any depth; none when the folder is not there."""
    path = local_path(location)
    if path:
        return sorted(os.path.join(folder, name) for folder, _, names in os.walk(path) for name in names if not name.endswith(".crc"))
    parts = urlsplit(location)
    bucket = table.io.fs_by_scheme(parts.scheme, parts.netloc)
    found = bucket.get_file_info(FileSelector(parts.netloc + parts.path, recursive=True, allow_not_found=True))
    return sorted(f"{parts.scheme}://{info.path}" for info in found if info.type == FileType.File)


def referenced_files(table):
    """Every location that the table's metadata, any of its snapshots, or a live entry of their manifests names."""
    found, manifests = {table.metadata_location}, {}
    for snapshot in table.snapshots():
        found.add(snapshot.manifest_list)
        manifests.update({m.manifest_path: m for m in snapshot.manifests(table.io)})
    for path, manifest in manifests.items():  # each is read once: snapshots share most of them
        found.add(path)
        if exists(table, path):
            found |= {e.data_file.file_path for e in manifest.fetch_manifest_entry(table.io, discard_deleted=False) if e.status != ManifestEntryStatus.DELETED}
    return found | {entry.metadata_file for entry in table.metadata.metadata_log}


def missing_files(table):
    """Referenced locations that do not exist; an unreadable manifest list raises."""
    return sorted(f for f in referenced_files(table) if not exists(table, f))


def live_files(table):
    return sorted(task.file.file_path for task in table.scan().plan_files())


def stray_files(table):
    """Files below the table's location that nothing refers to (left by a killed writer; harmless, but worth a line)."""
    known = {local_path(f) or f for f in referenced_files(table)}
    return [f for f in files_below(table, table.location()) if f not in known]
