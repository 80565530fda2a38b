import type { FaultPoint } from '@timelake/timelake/contract/fault-points'
import type { CommitTarget } from './commit-target.ts'
import type { CommitSet } from './table-commit.ts'

/** The steps of landing a set, by the names under which crash tests know them. */
export function faultPointsOf(
  { commits }: CommitSet,
  [first]: readonly CommitTarget[],
): { readonly checked: FaultPoint; readonly written: FaultPoint; readonly published: FaultPoint } {
  if (commits.length > 1) {
    return {
      checked: 'transaction.requirements-checked',
      written: 'transaction.metadata-written',
      published: 'transaction.swapped',
    }
  }
  return first?.kind === 'new'
    ? {
        checked: 'commit.requirements-checked',
        written: 'create.metadata-written',
        published: 'create.row-written',
      }
    : {
        checked: 'commit.requirements-checked',
        written: 'commit.metadata-written',
        published: 'commit.swapped',
      }
}
