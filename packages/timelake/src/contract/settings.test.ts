import { describe, expect, it } from 'vitest'
import { readSettings, SETTINGS, SettingsError } from './settings.ts'

const failure = (env: Record<string, string>): SettingsError => {
  try {
    readSettings(env)
  } catch (error) {
    if (error instanceof SettingsError) return error
    throw error
  }
  throw new Error('expected a SettingsError')
}

describe('readSettings', () => {
  it('fills in the defaults when nothing is set', () => {
    expect(readSettings({ PATH: '/bin' })).toMatchObject({
      host: '127.0.0.1',
      port: 8181,
      dataDirectory: './data',
      token: undefined,
      allowedHosts: [],
      bodyBytesMax: 33_554_432,
      idempotencyLifetimeMs: 86_400_000,
      isMaintenanceEnabled: true,
      faultPoint: undefined,
    })
  })

  it.each([
    ['TIMELAKE_PORT', '9000', { port: 9000 }],
    ['TIMELAKE_COMPACTION_QUIET', '500ms', { compactionQuietMs: 500 }],
    ['TIMELAKE_PURGE_GRACE', '1h', { purgeGraceMs: 3_600_000 }],
    ['TIMELAKE_BODY_BYTES_MAX', '1MiB', { bodyBytesMax: 1_048_576 }],
    [
      'TIMELAKE_ALLOWED_HOSTS',
      'lake.example, lake:8181',
      { allowedHosts: ['lake.example', 'lake:8181'] },
    ],
    ['TIMELAKE_MAINTENANCE', 'off', { isMaintenanceEnabled: false }],
    ['TIMELAKE_FAULT_POINT', 'commit.swapped', { faultPoint: 'commit.swapped' }],
    ['TIMELAKE_DATA_DIR', '/srv/lake with spaces', { dataDirectory: '/srv/lake with spaces' }],
  ])('reads %s=%s', (variable, text, expected) => {
    expect(readSettings({ [variable]: text })).toMatchObject(expected)
  })

  it.each([
    [
      'TIMELAKE_PORT',
      '70000',
      'TIMELAKE_PORT is wrong: expected a whole number from 0 to 65535, found "70000"',
    ],
    [
      'TIMELAKE_PORT',
      '',
      'TIMELAKE_PORT is wrong: expected a value, or no variable at all, found ""',
    ],
    [
      'TIMELAKE_DRAIN_TIMEOUT',
      '20',
      'expected a duration such as 500ms, 30s, 10m, 24h or 7d, from 0ms to 1h, found "20"',
    ],
    [
      'TIMELAKE_BODY_BYTES_MAX',
      '1KiB',
      'expected a size such as 64KiB, 32MiB or 1GiB, from 64KiB to 1GiB, found "1KiB"',
    ],
    ['TIMELAKE_MAINTENANCE', 'yes', 'expected on or off, found "yes"'],
    ['TIMELAKE_LOG_LEVEL', 'loud', 'expected one of fatal, error, warn,'],
    ['TIMELAKE_ALLOWED_HOSTS', 'a,,b', 'expected items separated by single commas, found "a,,b"'],
    ['TIMELAKE_HOST', ' host', 'expected text without control characters or outer spaces'],
  ])('refuses %s=%j with a sentence', (variable, text, sentence) => {
    const error = failure({ [variable]: text })
    expect(error.message).toContain(sentence)
    expect(error.variable).toBe(variable)
  })

  it('refuses a variable that does not exist and names the nearest one', () => {
    expect(failure({ TIMELAKE_PROT: '1' }).message).toBe(
      'TIMELAKE_PROT is not a setting of Timelake: did you mean TIMELAKE_PORT?',
    )
    expect(failure({ TIMELAKE_COLOUR_OF_THE_SKY: '1' }).message).toContain(
      'see the table in README.md',
    )
  })

  it('never repeats the text of a secret', () => {
    expect(failure({ TIMELAKE_TOKEN: 'hunter2 ' }).message).not.toContain('hunter2')
  })

  it('accepts every default under its own rules and declares each variable once', () => {
    expect(() => readSettings({})).not.toThrow()
    const variables = Object.values(SETTINGS).map(({ variable }) => variable)
    expect(new Set(variables).size).toBe(variables.length)
  })
})
