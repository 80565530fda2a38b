import { describe, expect, it } from 'vitest'
import { parseCommandLine, UsageError } from './command-line.ts'

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
  ])('refuses %j with a sentence', (args, sentence) => {
    expect(() => parseCommandLine(args)).toThrow(UsageError)
    expect(() => parseCommandLine(args)).toThrow(sentence)
  })
})
