/** Every kind of maintenance job, as it stands in the schedule, in run records and in queue messages. */
export const JOB_KINDS = ['compact-table', 'purge-table'] as const

export type JobKind = (typeof JOB_KINDS)[number]

/** The kinds that look at a table after its commits. */
export const COMMIT_JOB_KINDS = ['compact-table'] as const satisfies readonly JobKind[]
