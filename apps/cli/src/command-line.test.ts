import { describe, expect, it } from 'vitest'
import { parseCommandLine } from './command-line.ts'
import { UsageError } from './usage-error.ts'

const MIGRATION = {
  sourceUri: 'http://other:8181',
  namespaces: [],
  isDryRun: false,
  isOverwriting: false,
  isDiscarding: false,
  isCheckingFreeze: false,
  concurrency: 8,
}

describe('parseCommandLine', () => {
  it.each([
    [[], { kind: 'help' }],
    [['--help'], { kind: 'help' }],
    [['info', '--help'], { kind: 'help' }],
    [['version'], { kind: 'version' }],
    [['serve'], { kind: 'serve' }],
    [
      ['info', 'metrics.cpu'],
      { kind: 'info', table: { levels: ['metrics'], name: 'cpu' }, isJson: false },
    ],
    [
      ['info', 'a.b.c', '--json', '--uri', 'http://lake:1', '--warehouse', 'w'],
      {
        kind: 'info',
        table: { levels: ['a', 'b'], name: 'c' },
        isJson: true,
        uri: 'http://lake:1',
        warehouse: 'w',
      },
    ],
    [
      ['maintain', 'metrics.cpu', '--dry-run'],
      {
        kind: 'maintain',
        table: { levels: ['metrics'], name: 'cpu' },
        isJson: false,
        isDryRun: true,
      },
    ],
    [['recover'], { kind: 'recover', isDryRun: false, isForced: false }],
    [
      ['recover', '--force', '--dry-run', '--unnamed-into', 'lost'],
      { kind: 'recover', isDryRun: true, isForced: true, unnamedInto: 'lost' },
    ],
    [
      ['recover', '--warehouse', 'cold'],
      { kind: 'recover', isDryRun: false, isForced: false, warehouse: 'cold' },
    ],
    [['migrate', '--from', 'http://other:8181'], { kind: 'migrate', ...MIGRATION }],
    [
      [
        ...[
          'migrate',
          '--from',
          'http://other:8181',
          '--from-warehouse',
          'w',
          '--to',
          'https://ours',
        ],
        ...[
          '--to-warehouse',
          'main',
          '--namespace',
          'a.b',
          '--namespace',
          'c',
          '--report',
          'r.jsonl',
        ],
        ...[
          '--dry-run',
          '--overwrite',
          '--discard-target',
          '--freeze-check',
          '--concurrency',
          '64',
        ],
      ],
      {
        kind: 'migrate',
        sourceUri: 'http://other:8181',
        sourceWarehouse: 'w',
        targetUri: 'https://ours',
        targetWarehouse: 'main',
        namespaces: [['a', 'b'], ['c']],
        reportPath: 'r.jsonl',
        isDryRun: true,
        isOverwriting: true,
        isDiscarding: true,
        isCheckingFreeze: true,
        concurrency: 64,
      },
    ],
  ])('reads %j', (args, command) => {
    expect(parseCommandLine(args)).toEqual(command)
  })

  it.each([
    [['compact'], 'there is no command compact'],
    [['serve', '--port', '1'], "Unknown option '--port'"],
    [['serve', 'now'], 'Unexpected argument'],
    [['info'], 'name a table'],
    [['info', 'cpu'], 'cpu is not a table name'],
    [['info', 'metrics.'], 'metrics. is not a table name'],
    [['info', 'a.b', 'c.d'], 'name one table, not also c.d'],
    [['recover', '--unnamed-into', ''], '--unnamed-into needs'],
    [['migrate'], '--from needs the address'],
    [['migrate', '--from', 'other:8181'], '--from needs an address'],
    [['migrate', '--from', 'http://me:secret@other'], 'TIMELAKE_MIGRATE_FROM_TOKEN'],
    [['migrate', '--from', 'http://o', '--to', 'ours'], '--to needs an address'],
    [['migrate', '--from', 'http://o', '--namespace', 'a..b'], 'a..b is not a namespace'],
    [['migrate', '--from', 'http://o', '--concurrency', '0'], 'from 1 to 64'],
    [['migrate', '--from', 'http://o', '--discard-target'], '--discard-target needs --overwrite'],
  ])('refuses %j with a sentence', (args, sentence) => {
    expect(() => parseCommandLine(args)).toThrow(UsageError)
    expect(() => parseCommandLine(args)).toThrow(sentence)
  })
})
