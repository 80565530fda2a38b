import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { MalformedRequestError } from './access-broker.ts'
import { keysOfDeleteBody } from './s3-delete-body.ts'

const one = (key: string): string => `<Delete><Object><Key>${key}</Key></Object></Delete>`

describe('keysOfDeleteBody', () => {
  it('reads what the SDKs write', () => {
    const java =
      '<?xml version="1.0" encoding="UTF-8"?><Delete xmlns="http://s3.amazonaws.com/doc/2006-03-01/"><Object><Key>w/a&amp;b</Key></Object><Object><Key>w/day=1/x y.parquet</Key></Object><Quiet>true</Quiet></Delete>'
    expect(keysOfDeleteBody(java)).toEqual(['w/a&b', 'w/day=1/x y.parquet'])
    const indented = `\n<Delete>\n  <Quiet>false</Quiet>\n  <Object>\n    <Key>w/&#x1F9CA;&#60;&lt;</Key>\n  </Object>\n</Delete>\n`
    expect(keysOfDeleteBody(indented)).toEqual(['w/🧊<<'])
  })

  it('keeps spaces of keys and leaves percent signs alone', () => {
    expect(keysOfDeleteBody(one(' a%2Fb '))).toEqual([' a%2Fb '])
  })

  it.each([
    ['nothing', ''],
    ['no object', '<Delete></Delete>'],
    ['a comment', one('a<!-- b -->c')],
    ['a comment between', '<Delete><!-- x --><Object><Key>a</Key></Object></Delete>'],
    ['a section', one('<![CDATA[b]]>')],
    ['a document type', `<!DOCTYPE d [<!ENTITY e "x">]>${one('&e;')}`],
    ['an unknown entity', one('&e;')],
    ['an entity that does not end', one('a&amp')],
    ['a null character', one('&#0;')],
    ['a surrogate', one('&#xD800;')],
    ['a character beyond the last', one('&#x110000;')],
    ['a processing instruction', `<?php ?>${one('a')}`],
    ['two keys', '<Delete><Object><Key>a</Key><Key>b</Key></Object></Delete>'],
    ['a version', '<Delete><Object><Key>a</Key><VersionId>1</VersionId></Object></Delete>'],
    ['no key', '<Delete><Object></Object></Delete>'],
    ['an empty key', one('')],
    ['a prefix', '<s:Delete xmlns:s="x"><s:Object><s:Key>a</s:Key></s:Object></s:Delete>'],
    ['an attribute', '<Delete><Object a="1"><Key>a</Key></Object></Delete>'],
    ['another name space', '<Delete xmlns="x"><Object><Key>a</Key></Object></Delete>'],
    ['another case', '<delete><object><key>a</key></object></delete>'],
    ['text between', '<Delete>a<Object><Key>a</Key></Object></Delete>'],
    ['a key outside', '<Delete><Object><Key>a</Key></Object><Key>b</Key></Delete>'],
    ['a second document', `${one('a')}${one('b')}`],
    ['text behind', `${one('a')}x`],
    [
      'two switches',
      '<Delete><Quiet>true</Quiet><Quiet>true</Quiet><Object><Key>a</Key></Object></Delete>',
    ],
    ['no end', '<Delete><Object><Key>a</Key></Object>'],
    ['JSON', '{"Delete":{}}'],
    ['more than a batch', `<Delete>${'<Object><Key>a</Key></Object>'.repeat(1_001)}</Delete>`],
  ])('refuses %s', (_, body) => {
    expect(() => keysOfDeleteBody(body)).toThrow(MalformedRequestError)
  })

  it('refuses what is too long, and reads a full batch, in no time', () => {
    expect(() => keysOfDeleteBody('<'.repeat(3_000_000))).toThrow(MalformedRequestError)
    const key = 'k'.repeat(1_000)
    const body = `<Delete>${`<Object><Key>${key}</Key></Object>`.repeat(1_000)}</Delete>`
    expect(keysOfDeleteBody(body)).toHaveLength(1_000)
  })

  it('reads every key that can be written', () => {
    const escape = (text: string): string =>
      text.replace(/[&<>"']/g, (character) => `&#${character.codePointAt(0)};`)
    const key = fc.string({ unit: 'binary', minLength: 1, maxLength: 30 })
    fc.assert(
      fc.property(fc.array(key, { minLength: 1, maxLength: 5 }), (keys) => {
        const objects = keys.map((text) => `<Object><Key>${escape(text)}</Key></Object>`).join('')
        expect(keysOfDeleteBody(`<Delete>${objects}</Delete>`)).toEqual(keys)
      }),
    )
  })
})
