/** What an operator may set for the planning of scans. */
export interface PlanningConfig {
  /** Files in one answer; a plan with more is given out in tasks of about so many. */
  readonly pageFilesMax: number
  /** A scan that looks at more files is planned while its caller polls, when it can. */
  readonly asyncFilesMax: number
  /** How long ids of plans and plan tasks are good. */
  readonly lifetimeMs: number
  /** Memory for decoded manifests, an estimate. */
  readonly cacheBytesMax: number
  /** Plans and plan tasks that are worked on at one time. */
  readonly plansMax: number
}

const MIB = 1_048_576

export const defaultPlanningConfig: PlanningConfig = {
  pageFilesMax: 1_000,
  asyncFilesMax: 300_000,
  lifetimeMs: 3_600_000,
  cacheBytesMax: 192 * MIB,
  plansMax: 64,
}
