/** Every kind of maintenance job, as it stands in the schedule, in run records and in queue messages. */
export const JOB_KINDS = ['compact-table'] as const

export type JobKind = (typeof JOB_KINDS)[number]
