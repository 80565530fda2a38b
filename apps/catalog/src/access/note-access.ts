import type { RouteCall } from '../http/route.ts'
import { auditCall } from './audit-answer.ts'
import type { GivenAccess } from './noted-access.ts'

/**
 * Counts access that a call was given, and writes it into the audit log unless that was done before. Such calls follow the loads of
 * tables, of which there may be thousands a second.
 */
export function noteAccess(call: RouteCall, given: GivenAccess): void {
  const { mode, access } = given
  const { metrics, notedAccess } = call.catalog
  metrics.accessGiven.inc({ mode, access })
  if (!notedAccess.isNew(call.caller.id, given)) return
  const detail = `${mode}, ${access}`
  auditCall(call, { action: 'giveAccess', outcome: 'done', status: 200, detail })
}
