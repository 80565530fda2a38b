import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import {
  LocationError,
  ObjectNotFoundError,
  type ObjectStore,
  ObjectTooLargeError,
} from './object-store.ts'

export interface ConformanceSubject {
  readonly store: ObjectStore
  /** A location that holds nothing yet; the suite writes below it. */
  readonly location: string
  /** Writers that race for one name; default 32. Some servers queue them for seconds. */
  readonly racerCount?: number
  remove?(): Promise<void>
}

/** Names that stores and clients like to change on the way. */
const ODD_NAMES = [
  'a b',
  'a+b',
  'a%20b',
  'a%b',
  '100%',
  '%2e%2e',
  '%2F',
  'what?',
  'hash#tag',
  'semi;colon',
  "single'quote",
  'double"quote',
  'amp&sand=1',
  'brackets[1]{2}(3)<4>',
  'star*',
  'at@colon:comma,',
  '~tilde',
  '$dollar!',
  'café',
  'cafe\u0301',
  '日本語',
  '\u{1f600}',
  '...',
  '.hidden',
  ' leading and trailing ',
  'UPPER',
  'upper',
  'x'.repeat(255),
]

const REFUSED_NAMES = [
  '',
  '.',
  '..',
  'a//b',
  'a/../b',
  'a/./b',
  'a/',
  'a\\b',
  'a\nb',
  'a\0b',
  'x'.repeat(256),
]

/** What every ObjectStore promises. Each implementation runs it, fakes included. */
export function describeObjectStoreContract(
  name: string,
  open: () => Promise<ConformanceSubject>,
): void {
  describe(`the object store contract: ${name}`, () => {
    let subject: ConformanceSubject
    let scratchDirectory: string
    let locationCount = 0
    const newLocation = (leaf = 'object') => `${subject.location}/case-${++locationCount}/${leaf}`

    beforeAll(async () => {
      subject = await open()
      scratchDirectory = await mkdtemp(join(tmpdir(), 'timelake-conformance-'))
    })

    afterAll(async () => {
      await subject.remove?.()
      await rm(scratchDirectory, { recursive: true, force: true })
    })

    const list = async (prefix: string) => {
      const locations: string[] = []
      for await (const entry of subject.store.list(prefix)) locations.push(entry.location)
      return locations.sort()
    }

    describe('putIfAbsent', () => {
      it('creates an object that reads back byte for byte', async () => {
        const location = newLocation()
        const bytes = Uint8Array.from({ length: 256 }, (_, i) => i)
        expect(await subject.store.putIfAbsent(location, bytes)).toBe('created')
        expect(Array.from(await subject.store.get(location))).toEqual(Array.from(bytes))
      })

      it('I12 answers exists and keeps what is there, also for equal bytes', async () => {
        const location = newLocation()
        await subject.store.putIfAbsent(location, bytesOf('first'))
        expect(await subject.store.putIfAbsent(location, bytesOf('second'))).toBe('exists')
        expect(await subject.store.putIfAbsent(location, bytesOf('first'))).toBe('exists')
        expect(textOf(await subject.store.get(location))).toBe('first')
      })

      it.each([
        ['a few small', 3, 10],
        ['many', 2_500, 400],
        ['large', 3, 400_000],
        ['no', 0, 0],
      ])('stores %s pieces one after the other', async (_, count, length) => {
        const location = newLocation()
        const pieces = Array.from({ length: count }, (_, index) =>
          new Uint8Array(length).fill(index),
        )
        expect(await subject.store.putIfAbsent(location, pieces)).toBe('created')
        const stored = await subject.store.get(location)
        expect(stored).toHaveLength(count * length)
        const wrong = stored.findIndex((byte, at) => byte !== Math.floor(at / length) % 256)
        expect(wrong).toBe(-1)
      })

      it('stores an empty object', async () => {
        const location = newLocation()
        expect(await subject.store.putIfAbsent(location, new Uint8Array())).toBe('created')
        expect(await subject.store.get(location)).toHaveLength(0)
        expect((await subject.store.stat(location))?.sizeBytes).toBe(0)
      })

      it('lets exactly one of many racers create a name, whole', async () => {
        const location = newLocation()
        const { racerCount = 32 } = subject
        const texts = Array.from({ length: racerCount }, (_, i) => `racer ${i} `.repeat(1000))
        const outcomes = await Promise.all(
          texts.map((text) => subject.store.putIfAbsent(location, bytesOf(text))),
        )
        expect(outcomes.filter((outcome) => outcome === 'created')).toHaveLength(1)
        expect(outcomes.filter((outcome) => outcome === 'exists')).toHaveLength(racerCount - 1)
        const stored = textOf(await subject.store.get(location))
        expect(stored).toBe(texts[outcomes.indexOf('created')])
      })

      it('creates a name again after it was deleted', async () => {
        const location = newLocation()
        await subject.store.putIfAbsent(location, bytesOf('old'))
        await subject.store.delete(location)
        expect(await subject.store.putIfAbsent(location, bytesOf('new'))).toBe('created')
        expect(textOf(await subject.store.get(location))).toBe('new')
      })

      it('keeps what it was given when the caller changes the buffer afterwards', async () => {
        const location = newLocation()
        const bytes = bytesOf('abc')
        await subject.store.putIfAbsent(location, bytes)
        bytes.fill(0)
        expect(textOf(await subject.store.get(location))).toBe('abc')
      })

      it.each(REFUSED_NAMES)('refuses the name %j with a LocationError', async (leaf) => {
        const location = newLocation(leaf)
        await expect(subject.store.putIfAbsent(location, bytesOf('x'))).rejects.toThrow(
          LocationError,
        )
      })
    })

    describe('odd names', () => {
      it.each(ODD_NAMES)('keeps the name %j as it is', async (leaf) => {
        const location = newLocation(leaf)
        expect(await subject.store.putIfAbsent(location, bytesOf(leaf))).toBe('created')
        expect(textOf(await subject.store.get(location))).toBe(leaf)
        expect((await subject.store.stat(location))?.location).toBe(location)
        const folder = location.slice(0, location.lastIndexOf('/'))
        expect(await list(folder)).toEqual([location])
        expect(await subject.store.delete(location)).toBe('deleted')
      })

      it('keeps names apart that decoding, folding or normalizing would merge', async () => {
        const names = ['a b', 'a+b', 'a%20b', 'A b', 'caf\u00e9', 'cafe\u0301']
        const folder = newLocation('apart')
        for (const leaf of names) {
          const outcome = await subject.store.putIfAbsent(`${folder}/${leaf}`, bytesOf(leaf))
          expect(outcome).toBe('created')
        }
        expect(await list(folder)).toEqual(names.map((leaf) => `${folder}/${leaf}`).sort())
      })
    })

    describe('get', () => {
      it('reads ranges from the start and from the end', async () => {
        const location = newLocation()
        await subject.store.putIfAbsent(location, bytesOf('0123456789'))
        const read = async (offset: number, lengthBytes: number) =>
          textOf(await subject.store.get(location, { range: { offset, lengthBytes } }))
        expect(await read(0, 3)).toBe('012')
        expect(await read(4, 100)).toBe('456789')
        expect(await read(-4, 4)).toBe('6789')
        expect(await read(-4, 2)).toBe('67')
        expect(await read(-100, 100)).toBe('0123456789')
        expect(await read(10, 5)).toBe('')
        expect(await read(3, 0)).toBe('')
      })

      it('reads a few bytes that lie far from the end', async () => {
        const location = newLocation()
        await subject.store.putIfAbsent(location, bytesOf('0123456789'.repeat(20_000)))
        const range = { offset: -150_001, lengthBytes: 3 }
        expect(textOf(await subject.store.get(location, { range }))).toBe('901')
      })

      it.each([
        { offset: 0, lengthBytes: 4 },
        { offset: -4, lengthBytes: 4 },
        { offset: 2, lengthBytes: 0 },
      ])('reads nothing of an empty object, %j', async (range) => {
        const location = newLocation()
        await subject.store.putIfAbsent(location, new Uint8Array())
        expect(await subject.store.get(location, { range })).toHaveLength(0)
      })

      it.each([
        { offset: 0, lengthBytes: 4 },
        { offset: -4, lengthBytes: 4 },
        { offset: 2, lengthBytes: 0 },
        { offset: -100_000, lengthBytes: 4 },
      ])('answers ObjectNotFoundError for a part of an absent object, %j', async (range) => {
        const answer = subject.store.get(newLocation('nowhere'), { range })
        await expect(answer).rejects.toThrow(ObjectNotFoundError)
      })

      it('refuses to read more than the caller allows', async () => {
        const location = newLocation()
        await subject.store.putIfAbsent(location, bytesOf('0123456789'))
        await expect(subject.store.get(location, { sizeBytesMax: 9 })).rejects.toThrow(
          ObjectTooLargeError,
        )
        expect(await subject.store.get(location, { sizeBytesMax: 10 })).toHaveLength(10)
        const range = { offset: 0, lengthBytes: 4 }
        expect(await subject.store.get(location, { sizeBytesMax: 4, range })).toHaveLength(4)
      })

      it('answers ObjectNotFoundError for an absent object, with its location', async () => {
        const location = newLocation('nowhere')
        const error = await subject.store.get(location).catch((caught: unknown) => caught)
        expect(error).toBeInstanceOf(ObjectNotFoundError)
        expect(error).toMatchObject({ location })
      })

      it('does not take a folder for an object', async () => {
        const location = newLocation()
        await subject.store.putIfAbsent(location, bytesOf('x'))
        const folder = location.slice(0, location.lastIndexOf('/'))
        await expect(subject.store.get(folder)).rejects.toThrow(ObjectNotFoundError)
        expect(await subject.store.stat(folder)).toBeUndefined()
        expect(await subject.store.delete(folder)).toBe('absent')
        expect(textOf(await subject.store.get(location))).toBe('x')
      })

      it('honours an aborted signal', async () => {
        const location = newLocation()
        await subject.store.putIfAbsent(location, bytesOf('x'))
        const signal = AbortSignal.abort(new Error('enough'))
        await expect(subject.store.get(location, { signal })).rejects.toThrow('enough')
      })
    })

    describe('stat and delete', () => {
      it('tells size and time of an object and undefined for an absent one', async () => {
        const location = newLocation()
        expect(await subject.store.stat(location)).toBeUndefined()
        await subject.store.putIfAbsent(location, bytesOf('four'))
        const entry = await subject.store.stat(location)
        expect(entry).toMatchObject({ location, sizeBytes: 4 })
        expect(Number.isFinite(entry?.lastModifiedMs)).toBe(true)
      })

      it('deletes once', async () => {
        const location = newLocation()
        await subject.store.putIfAbsent(location, bytesOf('x'))
        expect(await subject.store.delete(location)).toBe('deleted')
        expect(await subject.store.delete(location)).toBe('absent')
        expect(await subject.store.stat(location)).toBeUndefined()
      })
    })

    describe('deleteMany', () => {
      it('deletes all of them and answers for each, in their order, the absent ones too', async () => {
        const folder = newLocation('many')
        const names = ['b', 'a', 'odd <&>"\' name %20+', 'deep/c', 'caf\u00e9']
        const locations = names.map((leaf) => `${folder}/${leaf}`)
        for (const location of locations) await subject.store.putIfAbsent(location, bytesOf('x'))
        await subject.store.putIfAbsent(`${folder}/kept`, bytesOf('x'))
        const asked = [...locations, `${folder}/nowhere`, ...locations.slice(0, 1)]
        expect(await subject.store.deleteMany(asked)).toEqual(
          asked.map((location) => ({ location, outcome: 'gone' })),
        )
        expect(await list(folder)).toEqual([`${folder}/kept`])
      })

      it('goes on after a location that it may not serve', async () => {
        const location = newLocation()
        await subject.store.putIfAbsent(location, bytesOf('x'))
        const foreign = 'other-scheme://bucket/../x'
        const results = await subject.store.deleteMany([foreign, location])
        expect(results[1]).toEqual({ location, outcome: 'gone' })
        expect(await subject.store.stat(location)).toBeUndefined()
        expect(results[0]).toMatchObject({ location: foreign })
      })

      it('deletes nothing when given nothing', async () => {
        expect(await subject.store.deleteMany([])).toEqual([])
      })
    })

    describe('list', () => {
      it('finds every object below the prefix at any depth and nothing beside it', async () => {
        const folder = newLocation('t')
        const inside = ['a', 'b/c', 'b/d/e', 'b-c'].map((leaf) => `${folder}/${leaf}`)
        const beside = [`${folder}-old/a`, `${folder}2`]
        for (const location of [...inside, ...beside]) {
          await subject.store.putIfAbsent(location, bytesOf('x'))
        }
        expect(await list(folder)).toEqual([...inside].sort())
        expect(await list(`${folder}/`)).toEqual([...inside].sort())
        expect(await list(`${folder}/b`)).toEqual([`${folder}/b/c`, `${folder}/b/d/e`])
      })

      it('is empty for a prefix without objects', async () => {
        expect(await list(newLocation('void'))).toEqual([])
      })

      it('tells each object as stat does', async () => {
        const location = newLocation()
        await subject.store.putIfAbsent(location, bytesOf('seven77'))
        const folder = location.slice(0, location.lastIndexOf('/'))
        for await (const entry of subject.store.list(folder)) {
          expect(entry).toEqual(await subject.store.stat(location))
        }
      })
    })

    describe('putFileIfAbsent and localFile', () => {
      const newFile = async (text: string) => {
        const path = join(scratchDirectory, `file-${++locationCount}`)
        await writeFile(path, text)
        return path
      }

      it('creates an object from a file and answers exists for the second', async () => {
        const location = newLocation()
        expect(await subject.store.putFileIfAbsent(location, await newFile('one'))).toBe('created')
        expect(await subject.store.putFileIfAbsent(location, await newFile('two'))).toBe('exists')
        expect(textOf(await subject.store.get(location))).toBe('one')
      })

      it('lets exactly one of many racers create a name', async () => {
        const location = newLocation()
        const racerCount = Math.min(16, subject.racerCount ?? 16)
        const names = Array.from({ length: racerCount }, (_, i) => `racer ${i}`)
        const files = await Promise.all(names.map(newFile))
        const outcomes = await Promise.all(
          files.map((file) => subject.store.putFileIfAbsent(location, file)),
        )
        expect(outcomes.filter((outcome) => outcome === 'created')).toHaveLength(1)
        const stored = textOf(await subject.store.get(location))
        expect(stored).toBe(`racer ${outcomes.indexOf('created')}`)
      })

      it('gives a local path with the content', async () => {
        const location = newLocation('a%20b')
        await subject.store.putIfAbsent(location, bytesOf('local'))
        const path = await subject.store.localFile(location, scratchDirectory)
        expect(await readFile(path, 'utf8')).toBe('local')
      })

      it('has no local path for an absent object', async () => {
        const answer = subject.store.localFile(newLocation('nowhere'), scratchDirectory)
        await expect(answer).rejects.toThrow(ObjectNotFoundError)
      })
    })

    it('prepares the folders of a table without making objects, any number of times', async () => {
      const location = newLocation('table')
      await subject.store.prepareTableFolders(location)
      await subject.store.prepareTableFolders(location)
      expect(await list(location)).toEqual([])
      expect(await subject.store.putIfAbsent(`${location}/metadata/v1`, bytesOf('x'))).toBe(
        'created',
      )
    })
  })
}

function bytesOf(text: string): Uint8Array {
  return new TextEncoder().encode(text)
}

function textOf(bytes: Uint8Array): string {
  return new TextDecoder().decode(bytes)
}
