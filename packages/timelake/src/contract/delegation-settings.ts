import { duration } from './setting-kinds.ts'

const MINUTE_MS = 60_000
const DAY_MS = 86_400_000

/** Settings of the access that the catalog gives clients to objects. */
export const DELEGATION_SETTINGS = {
  vendedCredentialsLifetimeMs: duration({
    variable: 'TIMELAKE_VENDED_CREDENTIALS_LIFETIME',
    default: '1h',
    min: MINUTE_MS,
    max: DAY_MS / 2,
    doc: 'How long the credentials are valid that clients get for one table; at least half of it is left when they get them. Stores give no less than 15 minutes: with a shorter time clients are told the shorter one, so that they ask for others earlier.',
  }),
  stagedTableLifetimeMs: duration({
    variable: 'TIMELAKE_STAGED_TABLE_LIFETIME',
    default: '24h',
    min: MINUTE_MS,
    max: 7 * DAY_MS,
    doc: 'How long a client may renew its access to the objects of a table that it has staged and not yet committed (CREATE TABLE AS SELECT).',
  }),
} as const
