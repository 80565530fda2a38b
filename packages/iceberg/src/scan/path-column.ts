import { textOf } from './byte-pool.ts'
import { NamePool, type PackedNames } from './name-pool.ts'
import { RepeatedColumnBuilder, type RepeatedColumn } from './repeated-column.ts'

const SLASH = 0x2f

/** Paths of files: each folder once, names packed. */
export class PathColumn {
  /** With their slash, in no order that matters. */
  readonly folders: readonly string[]
  private readonly folderIndexes: RepeatedColumn<string>['indexes']
  private readonly names: PackedNames
  readonly sizeBytes: number

  constructor(folders: RepeatedColumn<string>, names: PackedNames) {
    this.folders = folders.values
    this.folderIndexes = folders.indexes
    this.names = names
    this.sizeBytes = folders.sizeBytes + names.sizeBytes
  }

  at(row: number): string {
    const folder = this.folders[this.folderIndexes.numberAt(row)] ?? ''
    return folder + this.names.at(row)
  }
}

export class PathColumnBuilder {
  private readonly folders: RepeatedColumnBuilder<string>
  private readonly names = new NamePool()

  constructor(capacity: number) {
    this.folders = new RepeatedColumnBuilder(capacity, textOf)
  }

  /** The path is UTF-8. */
  push(source: Uint8Array, start: number, end: number): void {
    let nameStart = end
    while (nameStart > start && source[nameStart - 1] !== SLASH) nameStart -= 1
    this.folders.push(source, start, nameStart)
    this.names.push(source, nameStart, end)
  }

  finish(): PathColumn {
    return new PathColumn(this.folders.finish(), this.names.finish())
  }
}
