import { execFileSync } from 'node:child_process'
import { mkdir, mkdtemp, readdir, realpath, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { describeObjectStoreContract } from './conformance.ts'
import { openLocalObjectStore } from './local-object-store.ts'
import { LocationError, ObjectNotFoundError, StoreUnavailableError } from './object-store.ts'

const bytes = new TextEncoder().encode('bytes')

async function newDirectory(): Promise<string> {
  return realpath(await mkdtemp(join(tmpdir(), 'timelake-local-')))
}

describeObjectStoreContract('local, with a root', async () => {
  const directory = await newDirectory()
  return {
    store: openLocalObjectStore({ rootDirs: [directory] }),
    location: `file://${directory}`,
    remove: () => rm(directory, { recursive: true }),
  }
})

describeObjectStoreContract('local, without roots, by plain paths', async () => {
  const directory = await newDirectory()
  return {
    store: openLocalObjectStore(),
    location: directory,
    remove: () => rm(directory, { recursive: true }),
  }
})

describe('a local store with a root', () => {
  let directory: string
  let root: string
  let outside: string
  let store: ReturnType<typeof openLocalObjectStore>

  beforeAll(async () => {
    directory = await newDirectory()
    root = join(directory, 'root')
    outside = join(directory, 'outside')
    await mkdir(join(root, 'inner'), { recursive: true })
    await mkdir(outside)
    await writeFile(join(outside, 'secret'), 'secret')
    await writeFile(join(root, 'inner', 'object'), 'object')
    await symlink(outside, join(root, 'door'))
    await symlink(join(outside, 'secret'), join(root, 'key'))
    await symlink(join(root, 'inner'), join(root, 'alias'))
    await symlink(join(outside, 'not-yet'), join(root, 'dangling'))
    await symlink(join(root, 'loop'), join(root, 'loop'))
    store = openLocalObjectStore({ rootDirs: [root] })
  })

  afterAll(() => rm(directory, { recursive: true }))

  const list = async (location: string) => {
    const locations: string[] = []
    for await (const entry of store.list(location)) locations.push(entry.location)
    return locations.sort()
  }

  const foreign = [
    ['a path beside the root', () => `file://${outside}/secret`],
    ['an absent path beside the root', () => `file://${outside}/nothing`],
    ['a path whose name begins like the root', () => `file://${root}-2/object`],
    ['a file behind a link to a directory', () => `file://${root}/door/secret`],
    ['an absent file behind a link to a directory', () => `file://${root}/door/nothing`],
    ['a link to a file', () => `file://${root}/key`],
    ['a link in a loop', () => `file://${root}/loop`],
    ['the root directory of the machine', () => 'file:///etc/passwd'],
  ] as const

  it.each(foreign)('refuses every operation on %s', async (_, locationOf) => {
    const location = locationOf()
    const source = join(directory, 'source')
    await writeFile(source, 'x')
    await expect(store.get(location)).rejects.toThrow(LocationError)
    await expect(store.stat(location)).rejects.toThrow(LocationError)
    await expect(store.localFile(location, directory)).rejects.toThrow(LocationError)
    await expect(store.delete(location)).rejects.toThrow(LocationError)
    await expect(store.putIfAbsent(location, bytes)).rejects.toThrow(LocationError)
    await expect(store.putFileIfAbsent(location, source)).rejects.toThrow(LocationError)
    await expect(store.prepareTableFolders(`${location}/t`)).rejects.toThrow(LocationError)
    await expect(list(location)).rejects.toThrow(LocationError)
    expect((await readdir(outside)).sort()).toEqual(['secret'])
  })

  it('reads through a link that stays inside', async () => {
    expect(await store.stat(`file://${root}/alias/object`)).toMatchObject({ sizeBytes: 6 })
  })

  it('neither follows nor lists links when it lists', async () => {
    expect(await list(`file://${root}`)).toEqual([`file://${root}/inner/object`])
  })

  it('creates nothing through a dangling link', async () => {
    expect(await store.putIfAbsent(`file://${root}/dangling`, bytes)).toBe('exists')
    await expect(store.putIfAbsent(`file://${root}/dangling/x`, bytes)).rejects.toThrow()
    expect((await readdir(outside)).sort()).toEqual(['secret'])
  })

  it('follows a root that is itself a link, and one that is made later', async () => {
    const linked = join(directory, 'linked-root')
    await symlink(root, linked)
    const throughLink = openLocalObjectStore({ rootDirs: [linked] })
    expect(await throughLink.stat(`file://${linked}/inner/object`)).toBeDefined()
    const later = openLocalObjectStore({ rootDirs: [join(directory, 'later')] })
    expect(await later.putIfAbsent(`file://${directory}/later/a/b`, bytes)).toBe('created')
    expect(await later.stat(`file://${directory}/later/a/b`)).toBeDefined()
  })

  it('gives the path itself as the local file', async () => {
    const path = await store.localFile(`file://${root}/inner/object`, directory)
    expect(path).toBe(join(root, 'inner', 'object'))
  })

  it('does not take special files for objects and does not wait for them', async () => {
    execFileSync('mkfifo', [join(root, 'inner', 'pipe')])
    await expect(store.get(`file://${root}/inner/pipe`)).rejects.toThrow(ObjectNotFoundError)
    expect(await store.stat(`file://${root}/inner/pipe`)).toBeUndefined()
    expect(await list(`file://${root}/inner`)).toEqual([`file://${root}/inner/object`])
    await rm(join(root, 'inner', 'pipe'))
  })

  it('leaves no temporary files behind, whatever the outcome', async () => {
    const location = `file://${root}/tidy/object`
    await Promise.all(Array.from({ length: 8 }, () => store.putIfAbsent(location, bytes)))
    expect(await readdir(join(root, 'tidy'))).toEqual(['object'])
  })

  it('does not list the leftovers of a killed writer', async () => {
    await mkdir(join(root, 'killed'))
    await writeFile(join(root, 'killed', `.timelake-${'0'.repeat(24)}.tmp`), 'half')
    expect(await list(`file://${root}/killed`)).toEqual([])
    await rm(join(root, 'killed'), { recursive: true })
  })

  it('refuses an object below an object', async () => {
    const location = `file://${root}/inner/object/below`
    await expect(store.putIfAbsent(location, bytes)).rejects.toThrow(LocationError)
  })

  it('makes metadata and data folders for a table', async () => {
    await store.prepareTableFolders(`file://${root}/ns/t`)
    expect((await readdir(join(root, 'ns', 't'))).sort()).toEqual(['data', 'metadata'])
  })

  it('takes a finished file by link, so that it costs no copy', async () => {
    const source = join(directory, 'finished')
    await writeFile(source, 'finished')
    await store.putFileIfAbsent(`file://${root}/linked/finished`, source)
    const { statSync } = await import('node:fs')
    expect(statSync(join(root, 'linked', 'finished')).ino).toBe(statSync(source).ino)
  })

  it('fails loudly when the source file is missing', async () => {
    const answer = store.putFileIfAbsent(`file://${root}/linked/never`, join(directory, 'missing'))
    await expect(answer).rejects.toThrow(StoreUnavailableError)
    expect(await store.stat(`file://${root}/linked/never`)).toBeUndefined()
  })
})
