import type { SnapshotRef } from '../spec/snapshot.ts'

/** The branches and tags of a draft by name, and by the snapshot that they point at. */
export class RefSet {
  #refs: Map<string, SnapshotRef>
  #namesBySnapshotId: Map<bigint, Set<string>> | undefined = undefined

  constructor(refs: Readonly<Record<string, SnapshotRef>>) {
    this.#refs = new Map(Object.entries(refs))
  }

  get(name: string): SnapshotRef | undefined {
    return this.#refs.get(name)
  }

  set(name: string, ref: SnapshotRef): void {
    this.#unlink(name)
    this.#refs.set(name, ref)
    if (this.#namesBySnapshotId !== undefined) link(this.#namesBySnapshotId, name, ref)
  }

  /** True when there was such a ref. */
  delete(name: string): boolean {
    this.#unlink(name)
    return this.#refs.delete(name)
  }

  /** The names of the refs that point at this snapshot. */
  namesAt(snapshotId: bigint): readonly string[] {
    if (this.#namesBySnapshotId === undefined) {
      const names = new Map<bigint, Set<string>>()
      this.#refs.forEach((ref, name) => link(names, name, ref))
      this.#namesBySnapshotId = names
    }
    return [...(this.#namesBySnapshotId.get(snapshotId) ?? [])]
  }

  toRecord(): Readonly<Record<string, SnapshotRef>> {
    return Object.fromEntries(this.#refs)
  }

  #unlink(name: string): void {
    const ref = this.#refs.get(name)
    if (ref !== undefined) this.#namesBySnapshotId?.get(ref.snapshotId)?.delete(name)
  }
}

function link(namesBySnapshotId: Map<bigint, Set<string>>, name: string, ref: SnapshotRef): void {
  const names = namesBySnapshotId.get(ref.snapshotId)
  if (names === undefined) namesBySnapshotId.set(ref.snapshotId, new Set([name]))
  else names.add(name)
}
