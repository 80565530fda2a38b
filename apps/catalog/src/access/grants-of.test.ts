import { describe, expect, it } from 'vitest'
import { grantsOf } from './grants-of.ts'

const grant = (
  role: 'reader' | 'writer' | 'admin',
  warehouseId?: string,
  levels: readonly string[] = [],
) => ({ role, warehouseId, levels })

describe('grants', () => {
  const grants = grantsOf([
    grant('reader', 'w'),
    grant('writer', 'w', ['a', 'b']),
    grant('admin', 'v', ['x', 'y', 'z']),
    grant('reader', 'v', ['x', 'y', 'z', 'deep']),
  ])

  it.each([
    ['w', undefined, 'reader'],
    ['w', ['a'], 'reader'],
    ['w', ['a', 'b'], 'writer'],
    ['w', ['a', 'b', 'c'], 'writer'],
    ['w', ['a', 'bc'], 'reader'],
    ['w', ['a\u001fb'], 'reader'],
    ['w', ['a","b'], 'reader'],
    ['v', undefined, undefined],
    ['v', ['x', 'y'], undefined],
    ['v', ['x', 'y', 'z', 'deep'], 'admin'],
    ['u', ['a', 'b'], undefined],
  ] as const)('in %s at %s: %s', (warehouseId, levels, role) => {
    expect(grants.roleAt(warehouseId, levels)).toBe(role)
  })

  it('show the way to what is deep, and nothing beside it', () => {
    expect(['w', 'v', 'u'].map((id) => grants.seesWarehouse(id))).toEqual([true, true, false])
    expect(grants.seesNamespace('v', ['x'])).toBe(true)
    expect(grants.seesNamespace('v', ['x', 'y'])).toBe(true)
    expect(grants.seesNamespace('v', ['x', 'other'])).toBe(false)
    expect(grants.seesNamespace('v', ['y'])).toBe(false)
    expect(grants.seesNamespace('u', ['x'])).toBe(false)
    expect(grants.isServerAdmin).toBe(false)
  })

  it('without a warehouse reach everywhere; only admins there are admins of the server', () => {
    const reader = grantsOf([grant('reader'), grant('admin', 'w')])
    expect(reader.isServerAdmin).toBe(false)
    expect([reader.roleAt('any', ['a']), reader.roleAt('w')]).toEqual(['reader', 'admin'])
    expect(reader.seesWarehouse('any') && reader.seesNamespace('any', ['a'])).toBe(true)
    expect(grantsOf([grant('admin')]).isServerAdmin).toBe(true)
  })

  it('are none for nobody', () => {
    const none = grantsOf([])
    expect([none.isServerAdmin, none.roleAt('w'), none.seesWarehouse('w')]).toEqual([
      ...[false, undefined, false],
    ])
  })
})
