import { checkRequirements } from '@timelake/iceberg/commit/check-requirements'
import { CommitQueueFullError } from './catalog-errors.ts'
import type { Catalog } from './catalog.ts'
import { findTarget } from './commit-target.ts'
import type { GroupMember, MemberAnswer } from './group-member.ts'

export type WaitingMember = Omit<GroupMember, 'resolve' | 'reject' | 'joinedAtMs'>

/**
 * Lets a caller wait in the lane of its table until it has landed with the others that wait there. When the lane is full it
 * is held for a moment; then CommitFailedError tells one whose requirements do not hold any more to load the table again, and
 * CommitQueueFullError the others to come back later. Throws what `landGroup` tells its members.
 */
export async function queueMember(
  catalog: Catalog,
  lane: string,
  member: WaitingMember,
): Promise<MemberAnswer> {
  if (!catalog.lanes.hasRoom(lane)) await waitForRoom(catalog, lane, member)
  const joinedAtMs = catalog.context.nowMs()
  return new Promise((resolve, reject) => {
    catalog.lanes.join(lane, { ...member, joinedAtMs, resolve, reject })
  })
}

async function waitForRoom(catalog: Catalog, lane: string, member: WaitingMember): Promise<void> {
  const { commitQueueFullWaitMs } = catalog.config
  catalog.metrics.commitQueueFull.inc()
  let isOver = false
  const over = catalog.context.delay(commitQueueFullWaitMs).then(() => void (isOver = true))
  while (!isOver) {
    await Promise.race([catalog.lanes.room(lane), over])
    if (catalog.lanes.hasRoom(lane)) return
  }
  await refuseStale(catalog, member)
  throw new CommitQueueFullError(catalog.lanes.depthOf(lane), catalog.lanes.expectedWaitMs(lane))
}

/** Throws CommitFailedError for a commit that cannot land any more, whenever its turn would come. */
async function refuseStale(catalog: Catalog, member: WaitingMember): Promise<void> {
  const { ask, identifier, warehouse, orderingClass } = member
  if (ask.kind !== 'request' || orderingClass !== 'strict') return
  const commit = { identifier, requests: ask.requests }
  const target = await findTarget(catalog, warehouse, { commit })
  const [first] = ask.requests
  if (target.kind === 'existing' && first !== undefined) {
    checkRequirements(target.base.metadata, first)
  }
}
