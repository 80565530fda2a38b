import type { CatalogEntry, TableEntry, ViewEntry } from '@timelake/iceberg/rest/catalog-entry-json'
import { describe, expect, it } from 'vitest'
import { planMigration, type MigrationRules } from './plan-migration.ts'

const file = (number: number): string => `s3://lake/t/metadata/0000${number}.metadata.json`

const table = (number: number, overrides: Partial<TableEntry> = {}): TableEntry => ({
  kind: 'table',
  uuid: 'u1',
  metadataLocation: file(number),
  location: 's3://lake/t',
  lastUpdatedMs: number,
  earlierLocations: Array.from({ length: number }, (_, index) => file(index)),
  ...overrides,
})

const view = (overrides: Partial<ViewEntry> = {}): ViewEntry => ({
  kind: 'view',
  uuid: 'v1',
  metadataLocation: 's3://lake/v/metadata/00000.metadata.json',
  location: 's3://lake/v',
  lastUpdatedMs: 1,
  recipe: {},
  meaning: 'select 1',
  ...overrides,
})

const RULES: MigrationRules = {
  isOverwriting: false,
  isDiscarding: false,
  views: 'register',
}

const OVERWRITING = { isOverwriting: true }
const DISCARDING = { isOverwriting: true, isDiscarding: true }

interface Case {
  readonly situation: string
  readonly source: CatalogEntry
  readonly target?: CatalogEntry
  readonly rules?: Partial<MigrationRules>
  /** `action`, or the verdict and a part of its reason. */
  readonly expected: string | readonly [string, string]
}

const CASES: readonly Case[] = [
  { situation: 'registers a new table', source: table(3), expected: 'register' },
  { situation: 'registers a new view', source: view(), expected: 'register' },
  {
    situation: 'makes a view anew where it cannot be registered',
    source: view(),
    rules: { views: 'create' },
    expected: 'create-view',
  },
  {
    situation: 'skips a view where there are none',
    source: view(),
    rules: { views: 'none' },
    expected: ['skipped', 'no routes for views'],
  },
  {
    situation: 'leaves a table that is there, however its location is spelled',
    source: table(3, { metadataLocation: file(3).replace('s3:', 's3a:') }),
    target: table(3),
    rules: DISCARDING,
    expected: ['already-there', 'the same'],
  },
  {
    situation: 'reports a target that is behind',
    source: table(3),
    target: table(1),
    expected: ['skipped', '--overwrite would move it'],
  },
  {
    situation: 'moves a target that is behind when told to',
    source: table(3),
    target: table(1),
    rules: OVERWRITING,
    expected: 'register overwriting',
  },
  {
    situation: 'keeps commits that only the target has, even when told to overwrite',
    source: table(1),
    target: table(3),
    rules: OVERWRITING,
    expected: ['skipped', '--discard-target'],
  },
  {
    situation: 'keeps a target that went its own way, whatever the clocks say',
    source: table(3, { lastUpdatedMs: 99 }),
    target: table(3, { metadataLocation: 's3://lake/t/metadata/00003-other.metadata.json' }),
    rules: OVERWRITING,
    expected: ['skipped', 'commits that the source lacks'],
  },
  {
    situation: 'drops commits of the target only when told to in so many words',
    source: table(1),
    target: table(3),
    rules: DISCARDING,
    expected: 'register overwriting',
  },
  {
    situation: 'does not take the permission to discard for one to overwrite',
    source: table(1),
    target: table(3),
    rules: { isDiscarding: true },
    expected: ['skipped', '--overwrite'],
  },
  {
    situation: 'never touches another table of the name',
    source: table(3),
    target: table(3, { uuid: 'u2' }),
    rules: DISCARDING,
    expected: ['conflict', 'uuid u2'],
  },
  {
    situation: 'never touches a view that has the name of a table',
    source: table(3),
    target: view(),
    rules: DISCARDING,
    expected: ['conflict', 'a view has the name'],
  },
  {
    situation: 'knows a view again that it made anew',
    source: view(),
    target: view({ uuid: 'v2' }),
    rules: { views: 'create' },
    expected: ['already-there', 'same meaning'],
  },
  {
    situation: 'takes another view of the name for a conflict',
    source: view(),
    target: view({ uuid: 'v2', meaning: 'select 2' }),
    expected: ['conflict', 'another view'],
  },
  {
    situation: 'does not move views',
    source: view({
      metadataLocation: 's3://lake/v/metadata/00001.metadata.json',
      lastUpdatedMs: 2,
    }),
    target: view(),
    rules: DISCARDING,
    expected: ['skipped', 'views cannot be moved'],
  },
]

describe('planMigration', () => {
  it.each(CASES)('$situation', ({ source, target, rules, expected }) => {
    const [action] = planMigration([{ source, target }], { ...RULES, ...rules })
    if (typeof expected === 'string') {
      const suffix = action?.action === 'register' && action.overwrite ? ' overwriting' : ''
      expect(`${action?.action}${suffix}`).toBe(expected)
    } else {
      const [outcome, reason] = expected
      expect(action).toMatchObject({ action: 'none', outcome })
      expect(action).toHaveProperty('reason', expect.stringContaining(reason))
    }
  })

  it('keeps the order of the subjects', () => {
    const subjects = [
      { source: table(1), target: table(1) },
      { source: view(), target: undefined },
    ]
    expect(planMigration(subjects, RULES).map(({ action }) => action)).toEqual(['none', 'register'])
  })
})
