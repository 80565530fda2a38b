import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { lockDataDirectory } from './data-directory-lock.ts'
import { DataDirectoryInUseError } from './database-errors.ts'

const directory = mkdtempSync(join(tmpdir(), 'timelake-lock-'))
afterAll(() => rmSync(directory, { recursive: true }))

let count = 0
const newDirectory = () => join(directory, `data-${++count}`)
const lockFile = (data: string) => join(data, 'timelake.lock')

describe('the lock of a data directory', () => {
  it('refuses a second holder with a sentence that names process and directory', () => {
    const data = newDirectory()
    const lock = lockDataDirectory(data, { pid: process.pid })
    expect(() => lockDataDirectory(data, { pid: process.pid })).toThrow(DataDirectoryInUseError)
    expect(() => lockDataDirectory(data, { pid: process.pid })).toThrow(
      `the data directory ${data} is in use by process ${process.pid}`,
    )
    lock.release()
  })

  it('is free again after release, which may be called twice', () => {
    const data = newDirectory()
    const lock = lockDataDirectory(data, { pid: process.pid })
    lock.release()
    lock.release()
    expect(readdirSync(data)).toEqual([])
    const next = lockDataDirectory(data, { pid: process.pid })
    lock.release()
    expect(readdirSync(data)).toEqual([])
    next.release()
  })

  it('takes over the lock of a process that is gone', async () => {
    const data = newDirectory()
    const child = spawn(process.execPath, ['-e', 'setTimeout(() => {}, 60000)'])
    const lock = lockDataDirectory(data, { pid: child.pid ?? 0 })
    expect(() => lockDataDirectory(data, { pid: process.pid })).toThrow(`process ${child.pid}`)
    child.kill('SIGKILL')
    await once(child, 'exit')
    const mine = lockDataDirectory(data, { pid: process.pid })
    expect(readFileSync(lockFile(data), 'utf8')).toContain(`"pid":${process.pid},`)
    lock.release()
    expect(readdirSync(data)).toEqual(['timelake.lock'])
    mine.release()
  })

  it.runIf(process.platform === 'linux')('takes over the lock of a zombie', async () => {
    const data = newDirectory()
    // The shell becomes a program that never looks after its child, which therefore stays a zombie.
    const parent = spawn('sh', ['-c', 'sleep 0 & echo $!; exec sleep 60'])
    const [line] = (await once(parent.stdout, 'data')) as [Buffer]
    const pid = Number(line.toString())
    const isZombie = () => /\) Z /.test(readFileSync(`/proc/${pid}/stat`, 'utf8'))
    while (!isZombie()) await new Promise(setImmediate)
    lockDataDirectory(data, { pid })
    expect(() => lockDataDirectory(data, { pid: process.pid })).not.toThrow()
    parent.kill('SIGKILL')
    await once(parent, 'exit')
  })

  it('takes over when the process id now belongs to another process', () => {
    const data = newDirectory()
    lockDataDirectory(data, { pid: process.pid })
    const content = readFileSync(lockFile(data), 'utf8')
    writeFileSync(lockFile(data), content.replace(/:(\d+)"/, ':1"'))
    expect(() => lockDataDirectory(data, { pid: process.pid })).not.toThrow()
  })

  it('takes a file without an owner for a leftover', () => {
    const data = newDirectory()
    lockDataDirectory(data, { pid: process.pid }).release()
    writeFileSync(lockFile(data), '')
    expect(() => lockDataDirectory(data, { pid: process.pid })).not.toThrow()
  })

  it('respects a lock without a start time, as other systems write it', () => {
    const data = newDirectory()
    lockDataDirectory(data, { pid: process.pid }).release()
    writeFileSync(lockFile(data), `{"pid":${process.pid}}\n`)
    expect(() => lockDataDirectory(data, { pid: process.pid })).toThrow(DataDirectoryInUseError)
  })

  it('survives a process that died while it took a stale lock over', () => {
    const data = newDirectory()
    lockDataDirectory(data, { pid: process.pid }).release()
    const dead = '{"pid":2147483646,"startedAt":"boot:1"}\n'
    writeFileSync(lockFile(data), dead)
    writeFileSync(`${lockFile(data)}.takeover`, dead)
    const lock = lockDataDirectory(data, { pid: process.pid })
    lock.release()
    expect(readdirSync(data)).toEqual([])
  })

  it('is taken by exactly one of several processes that find a stale lock', async () => {
    const data = newDirectory()
    lockDataDirectory(data, { pid: process.pid }).release()
    writeFileSync(lockFile(data), '{"pid":2147483646,"startedAt":"boot:1"}\n')
    const script = `
      import { lockDataDirectory } from ${JSON.stringify(new URL('./data-directory-lock.ts', import.meta.url).href)}
      process.stdin.once('data', () => {
        try { lockDataDirectory(${JSON.stringify(data)}, { pid: process.pid }); console.log('locked') }
        catch (error) { console.log(error.name) }
      })
      console.log('ready')`
    const children = Array.from({ length: 4 }, () =>
      spawn(process.execPath, ['--import', 'tsx', '--input-type=module', '-e', script]),
    )
    const lines = children.map((child) => linesOf(child.stdout))
    for (const line of lines) expect((await line.next()).value).toBe('ready')
    for (const child of children) child.stdin.write('go\n')
    const answers = []
    for (const line of lines) answers.push((await line.next()).value)
    for (const child of children) child.kill('SIGKILL')
    expect(answers.sort()).toEqual([
      'DataDirectoryInUseError',
      'DataDirectoryInUseError',
      'DataDirectoryInUseError',
      'locked',
    ])
  })
})

async function* linesOf(stream: AsyncIterable<unknown>): AsyncGenerator<string> {
  let rest = ''
  for await (const chunk of stream) {
    const lines = (rest + String(chunk)).split('\n')
    rest = lines.pop() ?? ''
    yield* lines
  }
}
