import { describe, expect, it } from 'vitest'
import {
  createAccount,
  deleteAccount,
  findAccessById,
  findAccount,
  findAccountById,
  findFederatedAccess,
  findServiceAccess,
  haveAccounts,
  listAccounts,
  markSecretUsed,
  rotateAccountSecret,
  updateAccount,
  type AccountRow,
  type NewAccount,
} from '../accounts.ts'
import {
  listAuditEntries,
  pruneAuditEntries,
  writeAuditEntries,
  type AuditEntry,
} from '../audit-log.ts'
import { deleteGrant, listGrants, putGrant, type NewGrant } from '../grants.ts'
import { addServerKey, listServerKeys } from '../server-keys.ts'
import { newId, newWarehouse, NOW_MS, type UseDatabase } from './contract-world.ts'

/** What accounts.ts, grants.ts, audit-log.ts and server-keys.ts promise. */
export function describeAccess(useDatabase: UseDatabase): void {
  const wanted = (more: Partial<NewAccount> = {}): NewAccount => {
    const id = newId()
    return {
      id,
      name: `account-${id}`,
      kind: 'service',
      issuer: undefined,
      subject: undefined,
      description: 'for tests',
      secret: { id: newId(), hash: 'scrypt.a.b' },
      nowMs: NOW_MS,
      countMax: 1_000_000,
      ...more,
    }
  }
  const outside = (kind: 'federated' | 'group', subject: string): NewAccount =>
    wanted({ kind, subject, issuer: 'https://idp.example', secret: undefined })
  const made = async (account = wanted()): Promise<AccountRow> => {
    const created = await createAccount(useDatabase(), account)
    if (created.outcome !== 'created') throw new Error(`cannot set up: ${created.outcome}`)
    return created.row
  }
  const grant = (accountId: string, more: Partial<NewGrant> = {}): NewGrant => ({
    id: newId(),
    accountId,
    warehouseId: undefined,
    levels: [],
    role: 'reader',
    nowMs: NOW_MS,
    countMax: 1_000_000,
    ...more,
  })

  describe('accounts', () => {
    it('keep what they are given, and are found by name and id', async () => {
      const database = useDatabase()
      const account = wanted()
      const row = await made(account)
      const { secret, nowMs, countMax, ...kept } = account
      expect([nowMs, countMax, secret?.hash]).toEqual([NOW_MS, 1_000_000, 'scrypt.a.b'])
      expect(row).toEqual({
        ...kept,
        disabledAtMs: undefined,
        version: 0n,
        createdAtMs: NOW_MS,
        updatedAtMs: NOW_MS,
      })
      expect(await findAccount(database, row.name)).toEqual(row)
      expect(await findAccountById(database, row.id)).toEqual(row)
      expect(await listAccounts(database, { limit: 10_000 })).toContainEqual(row)
      expect(await listAccounts(database, { after: row.name, limit: 10_000 })).not.toContainEqual(
        row,
      )
      expect(await haveAccounts(database)).toBe(true)
      expect(await findAccount(database, 'a\u0000')).toBeUndefined()
    })

    it('have their name and their subject alone, and are no more than there may be', async () => {
      const database = useDatabase()
      const row = await made()
      const twin = await createAccount(database, wanted({ name: row.name }))
      expect(twin).toEqual({ outcome: 'exists', row })
      const subject = newId()
      const person = await made(outside('federated', subject))
      expect(await createAccount(database, outside('federated', subject))).toEqual({
        outcome: 'exists',
        row: person,
      })
      // A group is another thing than a person, whatever it is called.
      await made(outside('group', subject))
      const tooMany = await createAccount(database, wanted({ countMax: 0 }))
      expect(tooMany).toEqual({ outcome: 'too-many' })
    })

    it('change as a whole, from the expected version', async () => {
      const database = useDatabase()
      const row = await made()
      const update = {
        id: row.id,
        expectedVersion: 0n,
        description: 'other',
        disabledAtMs: NOW_MS + 1,
        nowMs: NOW_MS + 1,
      }
      const [first, second] = await Promise.all([
        updateAccount(database, update),
        updateAccount(database, update),
      ])
      expect([first, second].filter((each) => each === undefined)).toHaveLength(1)
      expect(await findAccountById(database, row.id)).toMatchObject({
        description: 'other',
        disabledAtMs: NOW_MS + 1,
        version: 1n,
        updatedAtMs: NOW_MS + 1,
      })
    })

    it('go with their secrets and grants', async () => {
      const database = useDatabase()
      const row = await made()
      await putGrant(database, grant(row.id))
      expect(await deleteAccount(database, row)).toBe('deleted')
      expect(await deleteAccount(database, row)).toBe('missing')
      expect(await findAccessById(database, row.id)).toBeUndefined()
      expect(await listGrants(database, { filter: { accountId: row.id }, limit: 9 })).toEqual([])
    })

    it('have two secrets at most: the newest, and the one before until its time is over', async () => {
      const database = useDatabase()
      const account = wanted()
      const { id, name } = await made(account)
      const rotate = (secretId: string, nowMs: number, keepForMs: number) =>
        rotateAccountSecret(database, {
          accountId: id,
          secret: { id: secretId, hash: `scrypt.${secretId}` },
          oldValidUntilMs: nowMs + keepForMs,
          nowMs,
        })
      const secrets = async () => {
        const access = await findServiceAccess(database, name)
        return access?.secrets.map((secret) => [secret.id, secret.validUntilMs])
      }
      const [second, third, fourth] = [newId(), newId(), newId()]
      expect(await rotate(second, NOW_MS + 1, 100)).toMatchObject({ id, version: 1n })
      expect(await secrets()).toEqual([
        [second, undefined],
        [account.secret?.id, NOW_MS + 101],
      ])
      await rotate(third, NOW_MS + 2, 100)
      expect(await secrets()).toEqual([
        [third, undefined],
        [second, NOW_MS + 102],
      ])
      await rotate(fourth, NOW_MS + 3, 0)
      expect(await secrets()).toEqual([[fourth, undefined]])
      await markSecretUsed(database, { secretId: fourth, nowMs: NOW_MS + 4 })
      const [used] = (await findAccessById(database, id))?.secrets ?? []
      expect(used).toMatchObject({ hash: `scrypt.${fourth}`, lastUsedAtMs: NOW_MS + 4 })
      const { id: person } = await made(outside('federated', newId()))
      const refused = { accountId: person, secret: { id: newId(), hash: 'x' } }
      const times = { oldValidUntilMs: NOW_MS, nowMs: NOW_MS }
      expect(await rotateAccountSecret(database, { ...refused, ...times })).toBeUndefined()
    })

    it('stand for a subject and for groups of its issuer alone', async () => {
      const database = useDatabase()
      const [subject, group] = [newId(), newId()]
      const person = await made(outside('federated', subject))
      const team = await made(outside('group', group))
      await made({ ...outside('group', group), issuer: 'https://other.example' })
      await putGrant(database, grant(team.id, { role: 'writer' }))
      const find = (issuer: string, groups: readonly string[]) =>
        findFederatedAccess(database, { issuer, subject, groups })
      const found = await find('https://idp.example', [group, 'unknown', 'a\u0000'])
      expect(found.map(({ account, grants }) => [account.id, grants])).toEqual([
        [person.id, []],
        [team.id, [{ warehouseId: undefined, levels: [], role: 'writer' }]],
      ])
      expect(await find('https://idp.example', [subject])).toHaveLength(1)
      expect(await find('https://third.example', [group])).toEqual([])
    })
  })

  describe('grants', () => {
    it('are one for each account and place, and name what is missing', async () => {
      const database = useDatabase()
      const { id: accountId, name } = await made()
      const warehouse = await newWarehouse(database)
      const levels = ['a', 'b.c']
      const place = { warehouseId: warehouse.id, levels }
      const first = await putGrant(database, grant(accountId, place))
      const second = await putGrant(database, grant(accountId, { ...place, role: 'admin' }))
      if (first.outcome !== 'granted') throw new Error(first.outcome)
      expect(second).toEqual({ outcome: 'granted', row: { ...first.row, role: 'admin' } })
      const everywhere = await putGrant(database, grant(accountId))
      const again = await putGrant(database, grant(accountId, { role: 'writer' }))
      expect(again).toMatchObject({
        row: { id: everywhere.outcome === 'granted' && everywhere.row.id },
      })
      const named = await listGrants(database, { filter: { accountId }, limit: 9 })
      expect(named.map((each) => [each.accountName, each.warehouseName, each.levels])).toEqual([
        [name, warehouse.name, levels],
        [name, undefined, []],
      ])
      expect(await putGrant(database, grant(newId()))).toEqual({ outcome: 'no-account' })
      const nowhere = grant(accountId, { warehouseId: newId() })
      expect(await putGrant(database, nowhere)).toEqual({ outcome: 'no-warehouse' })
      const further = grant(accountId, { ...place, levels: ['z'], countMax: 2 })
      expect(await putGrant(database, further)).toEqual({ outcome: 'too-many' })
      expect(await putGrant(database, { ...further, levels })).toMatchObject({ outcome: 'granted' })
      expect(await deleteGrant(database, first.row)).toMatchObject({ id: first.row.id })
      expect(await deleteGrant(database, first.row)).toBeUndefined()
    })

    it('go with their warehouse', async () => {
      const database = useDatabase()
      const { id: accountId } = await made()
      const { id: warehouseId } = await newWarehouse(database)
      await putGrant(database, grant(accountId, { warehouseId }))
      await database.query('delete from warehouse where id = $1', [warehouseId])
      expect((await findAccessById(database, accountId))?.grants).toEqual([])
    })
  })

  describe('the audit log', () => {
    const entry = (more: Partial<AuditEntry> = {}): AuditEntry => ({
      atMs: NOW_MS,
      callerId: 'id-1',
      callerName: 'spark',
      callerKind: 'account',
      action: 'dropTable',
      outcome: 'done',
      status: 204,
      warehouse: 'main',
      namespace: ['a', 'b'],
      object: 't',
      detail: undefined,
      remoteAddress: undefined,
      ...more,
    })

    it('gives entries newest first, by filter and page, and loses the oldest', async () => {
      const database = useDatabase()
      const warehouse = `w-${newId()}`
      await writeAuditEntries(database, [])
      await writeAuditEntries(database, [
        entry({ warehouse, atMs: NOW_MS - 10 }),
        entry({ warehouse, outcome: 'denied', callerId: 'id-2', callerName: 'x\u0000\ud800' }),
        entry({ warehouse, namespace: [], object: undefined, detail: '3 tables' }),
      ])
      const all = await listAuditEntries(database, { filter: { warehouse }, limit: 9 })
      expect(all.map(({ seq: _seq, ...each }) => each)).toEqual([
        entry({ warehouse, namespace: undefined, object: undefined, detail: '3 tables' }),
        entry({ warehouse, outcome: 'denied', callerId: 'id-2', callerName: 'x\ufffd\ufffd' }),
        entry({ warehouse, atMs: NOW_MS - 10 }),
      ])
      const count = async (filter: object, beforeSeq?: bigint) => {
        const page = { filter: { warehouse, ...filter }, beforeSeq, limit: 9 }
        return (await listAuditEntries(database, page)).length
      }
      expect(await count({ outcome: 'denied' })).toBe(1)
      expect(await count({ caller: 'id-1' })).toBe(2)
      expect(await count({ caller: 'spark' })).toBe(2)
      expect(await count({ action: 'loadTable' })).toBe(0)
      expect(await count({ fromMs: NOW_MS })).toBe(2)
      expect(await count({ untilMs: NOW_MS })).toBe(1)
      expect(await count({}, all[0]?.seq)).toBe(2)
      expect(await pruneAuditEntries(database, { beforeMs: NOW_MS, limit: 99 })).toBe(1)
      expect(await count({})).toBe(2)
    })
  })

  it('keeps the keys of the server, newest first', async () => {
    const database = useDatabase()
    const purpose = newId()
    const [old, young] = [newId(), newId()]
    await addServerKey(database, { id: old, purpose, keyText: 'plain.x', nowMs: NOW_MS })
    await addServerKey(database, { id: young, purpose, keyText: 'v1.y', nowMs: NOW_MS + 1 })
    expect(await listServerKeys(database, { purpose })).toEqual([
      { id: young, keyText: 'v1.y', createdAtMs: NOW_MS + 1 },
      { id: old, keyText: 'plain.x', createdAtMs: NOW_MS },
    ])
    expect(await listServerKeys(database, { purpose: newId() })).toEqual([])
  })
}
