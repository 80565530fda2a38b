import { randomBytes } from 'node:crypto'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { noSecretBox, openSecretBox, SealedTextError, SecretKeyError } from './secret-box.ts'

const newKey = (): string => randomBytes(32).toString('base64')
const key = newKey()
const box = openSecretBox({ key })

describe('a secret box', () => {
  it('opens what it sealed, under the same context', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), fc.string(), (text, context) => {
        expect(box.open(box.seal(text, context), context)).toBe(text)
      }),
    )
  })

  it('never seals one text twice in the same way, and shows neither text nor context', () => {
    const sealed = Array.from({ length: 50 }, () => box.seal('hunter2hunter2', 'w1'))
    expect(new Set(sealed).size).toBe(50)
    for (const each of sealed) {
      expect(each).toMatch(/^v1\.[0-9a-f]{8}\.[A-Za-z0-9_-]+$/)
      const payload = Buffer.from(each.split('.')[2] ?? '', 'base64url').toString('latin1')
      expect(payload).not.toContain('hunter2')
    }
  })

  it('refuses a text that was sealed for another context', () => {
    const sealed = box.seal('secret', 'warehouse-1')
    expect(() => box.open(sealed, 'warehouse-2')).toThrow(SealedTextError)
  })

  it('refuses every text that differs in one character', () => {
    const sealed = box.seal('secret', 'w')
    for (let at = 0; at < sealed.length; at += 1) {
      for (const other of ['A', 'b', '0', '.', '_']) {
        if (sealed[at] === other) continue
        const damaged = sealed.slice(0, at) + other + sealed.slice(at + 1)
        expect(() => box.open(damaged, 'w'), damaged).toThrow(SealedTextError)
      }
    }
  })

  it('refuses a text that was cut or that is something else', () => {
    const sealed = box.seal('secret', 'w')
    const texts = Array.from({ length: sealed.length }, (_, end) => sealed.slice(0, end))
    for (const text of [
      ...texts,
      `${sealed}A`,
      `${sealed}.x`,
      `${sealed}=`,
      '{"a":1}',
      'v2.00000000.AAAA',
    ]) {
      expect(() => box.open(text, 'w'), text).toThrow(SealedTextError)
    }
  })

  it('opens with the previous key and seals with the new one', () => {
    const next = newKey()
    const rotating = openSecretBox({ key: next, previousKey: key })
    expect(rotating.open(box.seal('old', 'w'), 'w')).toBe('old')
    expect(openSecretBox({ key: next }).open(rotating.seal('new', 'w'), 'w')).toBe('new')
  })

  it('names the variable, and no secret, when the key is another one', () => {
    const other = newKey()
    const sealed = openSecretBox({ key: other }).seal('hunter2', 'w')
    const error = errorOf(() => box.open(sealed, 'w'))
    expect(error).toBeInstanceOf(SealedTextError)
    expect(error.message).toContain('TIMELAKE_SECRET_KEY')
    for (const secret of [key, other, 'hunter2', sealed]) {
      expect(error.message).not.toContain(secret)
    }
  })

  it('says of damage nothing of the text', () => {
    const sealed = box.seal('hunter2', 'w')
    const error = errorOf(() => box.open(sealed, 'x'))
    expect(error.message).not.toContain(sealed.slice(12))
    expect(error.message).not.toContain('hunter2')
  })
})

describe('the key of a secret box', () => {
  it.each([
    ['', '0 bytes'],
    ['short', 'another text'],
    [randomBytes(16).toString('base64'), '16 bytes'],
    [randomBytes(33).toString('base64'), '33 bytes'],
    [randomBytes(32).toString('hex'), '48 bytes'],
    [`${newKey()}\n`, 'another text'],
    ['ä'.repeat(43), 'another text'],
  ])('is refused when it is %j', (text, found) => {
    const error = errorOf(() => openSecretBox({ key: text }))
    expect(error).toBeInstanceOf(SecretKeyError)
    expect(error.message).toBe(
      `TIMELAKE_SECRET_KEY is wrong: expected 32 bytes in base64, found ${found}`,
    )
  })

  it('may lack its padding', () => {
    const unpadded = openSecretBox({ key: key.replace(/=+$/, '') })
    expect(unpadded.open(box.seal('a', 'w'), 'w')).toBe('a')
  })

  it('names the previous key when that is the wrong one', () => {
    const open = () => openSecretBox({ key, previousKey: 'nope' })
    expect(open).toThrow(/^TIMELAKE_PREVIOUS_SECRET_KEY is wrong/)
  })
})

it('a process without a key keeps and reads nothing, and says which variable it needs', () => {
  const none = noSecretBox()
  expect(() => none.seal('a', 'w')).toThrow(SecretKeyError)
  expect(() => none.seal('a', 'w')).toThrow(/TIMELAKE_SECRET_KEY/)
  expect(() => none.open(box.seal('a', 'w'), 'w')).toThrow(/TIMELAKE_SECRET_KEY/)
})

function errorOf(run: () => unknown): Error {
  try {
    run()
  } catch (error) {
    if (error instanceof Error) return error
  }
  throw new Error('expected an error')
}
