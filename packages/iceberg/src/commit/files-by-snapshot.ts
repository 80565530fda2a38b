/**
 * Statistics files of a draft, keyed by snapshot. Files written elsewhere may list several for one snapshot: they
 * are kept until one is set. The base's list is handed back as it is when nothing changed.
 */
export class FilesBySnapshot<File extends { readonly snapshotId: bigint }> {
  #base: readonly File[]
  #files: Map<bigint, File[]> | undefined = undefined

  constructor(files: readonly File[]) {
    this.#base = files
  }

  get(snapshotId: bigint): readonly File[] {
    return this.#index().get(snapshotId) ?? []
  }

  /** Replaces what is listed for the file's snapshot, at its old position. */
  set(file: File): void {
    this.#index().set(file.snapshotId, [file])
  }

  /** True when a file was listed for the snapshot. */
  delete(snapshotId: bigint): boolean {
    if (this.#files === undefined && this.#base.length === 0) return false
    return this.#index().delete(snapshotId)
  }

  toList(): readonly File[] {
    return this.#files === undefined ? this.#base : [...this.#files.values()].flat()
  }

  #index(): Map<bigint, File[]> {
    if (this.#files !== undefined) return this.#files
    const files = new Map<bigint, File[]>()
    for (const file of this.#base) {
      const listed = files.get(file.snapshotId)
      if (listed === undefined) files.set(file.snapshotId, [file])
      else listed.push(file)
    }
    this.#files = files
    return files
  }
}
