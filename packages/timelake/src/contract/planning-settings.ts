import { bytes, count, duration } from './setting-kinds.ts'

/** Settings of the planning of scans by the catalog. */
export const PLANNING_SETTINGS = {
  planPageFiles: count({
    variable: 'TIMELAKE_PLAN_PAGE_FILES',
    default: '1000',
    min: 1,
    max: 10_000,
    doc: 'Files in one answer of scan planning. A plan with more is given out as plan tasks, which clients exchange for their files one by one.',
  }),
  planAsyncFiles: count({
    variable: 'TIMELAKE_PLAN_ASYNC_FILES',
    default: '300000',
    min: 0,
    max: 1_000_000_000,
    doc: 'A scan that has to look at more files than this is planned while the client polls. PyIceberg cannot poll, so its plans are always answered at once. 0: every plan but those.',
  }),
  planLifetimeMs: duration({
    variable: 'TIMELAKE_PLAN_LIFETIME',
    default: '1h',
    min: 60_000,
    max: 7 * 86_400_000,
    doc: 'How long the id of a plan and its plan tasks are good.',
  }),
  planCacheBytesMax: bytes({
    variable: 'TIMELAKE_PLAN_CACHE_BYTES_MAX',
    default: '192MiB',
    min: 1_048_576,
    max: 64 * 1_073_741_824,
    doc: 'Memory for the manifests that scan planning reads.',
  }),
  plansMax: count({
    variable: 'TIMELAKE_PLANS_MAX',
    default: '64',
    min: 1,
    max: 10_000,
    doc: 'Plans and plan tasks that are worked on at one time; more are told to come again (503).',
  }),
} as const
