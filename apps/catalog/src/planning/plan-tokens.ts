import { Buffer } from 'node:buffer'
import { createHmac, timingSafeEqual } from 'node:crypto'
import { deflateRawSync, inflateRawSync } from 'node:zlib'
import type { ServerKey, ServerKeys } from '../access/server-keys.ts'

/** Longest token that is looked at, in characters. */
const TOKEN_LENGTH_MAX = 16_384
const MAC_BYTES = 16
const KEY_ID_BYTES = 16
const EXPIRY_BYTES = 6
const HEAD_BYTES = MAC_BYTES + KEY_ID_BYTES + EXPIRY_BYTES
/** Text in one token, uncompressed; more is never signed. */
export const TASK_TEXT_BYTES_MAX = 65_536

/** Whose token it is. It is good for nobody else, and for no other table. */
export interface TokenOwner {
  readonly warehouseId: string
  readonly tableUuid: string
  readonly callerId: string
}

/** What the id of a plan says of it. */
export interface PlanIdentity {
  readonly uuid: string
  /** Whether the database knows the plan. Of the others the answer was complete. */
  readonly isKept: boolean
  readonly expiresAtMs: number
}

export interface OpenedTask {
  readonly text: string
  readonly expiresAtMs: number
}

const KEPT = 1

interface Opened {
  readonly content: Buffer
  readonly expiresAtMs: number
}

type TokenKind = 'plan' | 'task'

/**
 * Signs what clients bring back: ids of plans and plan tasks. A token is base64url of MAC, key id, expiry and content; the MAC
 * covers all of that, what kind of token it is, and its owner, who is not in it. Every process on the database proves what
 * another one signed.
 */
export class PlanTokens {
  readonly #keys: ServerKeys
  readonly #nowMs: () => number

  constructor(keys: ServerKeys, nowMs: () => number) {
    this.#keys = keys
    this.#nowMs = nowMs
  }

  /** The id of a plan; it fits into a path. */
  async signPlanId(owner: TokenOwner, plan: PlanIdentity): Promise<string> {
    const content = Buffer.concat([Buffer.of(plan.isKept ? KEPT : 0), uuidBytes(plan.uuid)])
    const { expiresAtMs } = plan
    return sign(await this.#keys.current(), { kind: 'plan', owner, content, expiresAtMs })
  }

  /** What the id of a plan says; undefined for what was not signed here for this owner, or is over. */
  async openPlanId(owner: TokenOwner, planId: string): Promise<PlanIdentity | undefined> {
    const opened = await this.#open('plan', owner, planId)
    if (opened === undefined) return undefined
    const { content, expiresAtMs } = opened
    return { uuid: uuidText(content.subarray(1)), isKept: content[0] === KEPT, expiresAtMs }
  }

  /** Plan tasks with these texts, in their order. The same text gives the same task. */
  async signTasks(
    owner: TokenOwner,
    tasks: { readonly texts: readonly string[]; readonly expiresAtMs: number },
  ): Promise<string[]> {
    const key = await this.#keys.current()
    const { expiresAtMs } = tasks
    return tasks.texts.map((text) =>
      sign(key, { kind: 'task', owner, content: deflateRawSync(text), expiresAtMs }),
    )
  }

  /** What a plan task says; undefined as for plan ids. */
  async openTask(owner: TokenOwner, planTask: string): Promise<OpenedTask | undefined> {
    const opened = await this.#open('task', owner, planTask)
    if (opened === undefined) return undefined
    const { content, expiresAtMs } = opened
    const text = inflateRawSync(content, { maxOutputLength: TASK_TEXT_BYTES_MAX }).toString()
    return { text, expiresAtMs }
  }

  async #open(kind: TokenKind, owner: TokenOwner, token: string): Promise<Opened | undefined> {
    if (token.length > TOKEN_LENGTH_MAX) return undefined
    const bytes = Buffer.from(token, 'base64url')
    // Other spellings of the same bytes are refused, so that a token has one form.
    if (bytes.length <= HEAD_BYTES || bytes.toString('base64url') !== token) return undefined
    const signed = bytes.subarray(MAC_BYTES)
    const key = await this.#keys.byId(uuidText(signed.subarray(0, KEY_ID_BYTES)))
    if (key === undefined) return undefined
    if (!timingSafeEqual(macOf(key, { kind, owner, signed }), bytes.subarray(0, MAC_BYTES))) {
      return undefined
    }
    const expiresAtMs = signed.readUIntBE(KEY_ID_BYTES, EXPIRY_BYTES)
    if (this.#nowMs() >= expiresAtMs) return undefined
    return { content: signed.subarray(KEY_ID_BYTES + EXPIRY_BYTES), expiresAtMs }
  }
}

interface Content {
  readonly kind: TokenKind
  readonly owner: TokenOwner
  readonly content: Buffer
  readonly expiresAtMs: number
}

function sign(key: ServerKey, { kind, owner, content, expiresAtMs }: Content): string {
  const expiry = Buffer.alloc(EXPIRY_BYTES)
  expiry.writeUIntBE(expiresAtMs, 0, EXPIRY_BYTES)
  const signed = Buffer.concat([uuidBytes(key.id), expiry, content])
  return Buffer.concat([macOf(key, { kind, owner, signed }), signed]).toString('base64url')
}

function macOf(
  key: ServerKey,
  { kind, owner, signed }: { kind: TokenKind; owner: TokenOwner; signed: Buffer },
): Buffer {
  const context = JSON.stringify([kind, owner.warehouseId, owner.tableUuid, owner.callerId])
  return createHmac('sha256', key.bytes)
    .update(`${Buffer.byteLength(context)} ${context}`)
    .update(signed)
    .digest()
    .subarray(0, MAC_BYTES)
}

function uuidBytes(uuid: string): Buffer {
  return Buffer.from(uuid.replaceAll('-', ''), 'hex')
}

function uuidText(bytes: Buffer): string {
  const hex = bytes.toString('hex')
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5')
}
