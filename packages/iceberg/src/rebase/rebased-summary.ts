import type { DataFile } from '../manifest/data-file.ts'
import type { ManifestFile } from '../manifest/manifest-file.ts'
import { summarizeChanges } from '../snapshot/snapshot-summary.ts'
import type { Snapshot } from '../spec/snapshot.ts'
import type { OwnManifest, WrittenSnapshot } from './own-manifests.ts'

export interface SummaryToMove {
  readonly kind: 'append' | 'replace'
  readonly written: WrittenSnapshot
  readonly own: readonly OwnManifest[]
  /** Manifests of the snapshot in its new list. */
  readonly createdCount: number
  /** Manifests of its parent in it. */
  readonly keptCount: number
  /** Manifests of its parent that it replaces. */
  readonly droppedCount: number
  /** What it is attached to. */
  readonly parent: Snapshot | undefined
  readonly parentManifests: readonly ManifestFile[]
  /** What it was made on. */
  readonly writtenParent: Snapshot | undefined
}

const TOTAL_PREFIX = 'total-'

/**
 * The summary as its writer made it, with the totals that hold after the new parent, and manifest counts of the new list
 * where it counted manifests. A total that cannot be known is left out.
 */
export function rebasedSummary(move: SummaryToMove): Record<string, string> {
  const { written, createdCount, keptCount } = move
  const summary: Record<string, string> = {}
  for (const [key, value] of Object.entries(written.snapshot.summary ?? {})) {
    if (!key.startsWith(TOTAL_PREFIX)) summary[key] = value
  }
  const replacedCount = move.kind === 'replace' ? move.droppedCount : 0
  const counts = {
    'manifests-created': createdCount,
    'manifests-kept': keptCount,
    'manifests-replaced': replacedCount,
  }
  for (const [key, count] of Object.entries(counts)) {
    if (Object.hasOwn(summary, key)) summary[key] = String(count)
  }
  return { ...summary, ...(move.kind === 'append' ? totalsOfAppend(move) : totalsOfReplace(move)) }
}

function totalsOfAppend({ own, parent, parentManifests }: SummaryToMove): Record<string, string> {
  const added: DataFile[] = []
  for (const { content } of own) {
    for (const { status, dataFile } of content.entries) if (status === 'added') added.push(dataFile)
  }
  const computed = summarizeChanges({ added, removed: [] }, parent, parentManifests)
  return Object.fromEntries(
    Object.entries(computed).filter(([key]) => key.startsWith(TOTAL_PREFIX)),
  )
}

/** What its writer changed a total by, it changes it by here too. */
function totalsOfReplace({
  written,
  parent,
  writtenParent,
}: SummaryToMove): Record<string, string> {
  const totals: Record<string, string> = {}
  for (const [key, value] of Object.entries(written.snapshot.summary ?? {})) {
    if (!key.startsWith(TOTAL_PREFIX)) continue
    const after = decimal(value)
    const before = decimal(writtenParent?.summary?.[key])
    const now = decimal(parent?.summary?.[key])
    if (after === undefined || before === undefined || now === undefined) continue
    const total = now + after - before
    if (total >= 0n) totals[key] = String(total)
  }
  return totals
}

function decimal(text: string | undefined): bigint | undefined {
  return text !== undefined && /^\d{1,18}$/.test(text) ? BigInt(text) : undefined
}
