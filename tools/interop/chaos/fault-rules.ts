import type { FileKind, RequestKind, Traffic } from './traffic.ts'

/**
 * One way to break requests. It applies to those that match every named property, lets `skip` of them pass first and then
 * breaks `times` (absent: all that follow).
 */
export interface FaultRule {
  readonly do: FaultAction
  readonly method?: string
  readonly kind?: RequestKind
  readonly file?: FileKind
  /** Regular expression over path and query. */
  readonly path?: string
  readonly skip?: number
  readonly times?: number
  /** Milliseconds of `delay` and `delay-answer`; after that long `hang` cuts the connection (absent: never). */
  readonly ms?: number
  /** Answer of `status` and `status-after`. */
  readonly status?: number
  /** How much of the body `truncate` lets through. */
  readonly bytes?: number
}

export const FAULT_ACTIONS = [
  'delay', // wait, then forward
  'delay-answer', // forward, wait, then answer
  'drop-request', // cut the connection; the upstream sees nothing
  'drop-answer', // the upstream applies it; the client gets a cut connection
  'status', // answer with it; the upstream sees nothing
  'status-after', // the upstream applies it; the client gets this status
  'truncate', // true headers and a part of the body, then a cut
  'hang', // no answer
] as const

export type FaultAction = (typeof FAULT_ACTIONS)[number]

const MEMBERS = ['do', 'method', 'kind', 'file', 'path', 'skip', 'times', 'ms', 'status', 'bytes']

/** Rules in order; the first that applies breaks the request. */
export interface RuleBook {
  /** Replaces all rules, their counts at nought. Throws for an unknown action or member. */
  replace(rules: readonly FaultRule[]): void
  next(
    request: Traffic & { readonly method: string; readonly target: string },
  ): FaultRule | undefined
  /** How many requests each rule has broken, in order. */
  hits(): readonly number[]
}

interface CountedRule {
  readonly rule: FaultRule
  seen: number
  hits: number
}

/** A rule book without rules. */
export function openRuleBook(): RuleBook {
  let counted: CountedRule[] = []
  return {
    replace: (rules) => {
      for (const rule of rules) refuseUnknown(rule)
      counted = rules.map((rule) => ({ rule, seen: 0, hits: 0 }))
    },
    next: (request) => {
      const chosen = counted.find((entry) => applies(entry, request))
      if (chosen === undefined) return undefined
      chosen.hits += 1
      return chosen.rule
    },
    hits: () => counted.map(({ hits }) => hits),
  }
}

function applies(
  entry: CountedRule,
  request: Traffic & { readonly method: string; readonly target: string },
): boolean {
  const { rule } = entry
  const isMatch =
    (rule.method === undefined || rule.method === request.method) &&
    (rule.kind === undefined || rule.kind === request.kind) &&
    (rule.file === undefined || rule.file === request.file) &&
    (rule.path === undefined || new RegExp(rule.path).test(request.target))
  if (!isMatch || entry.hits >= (rule.times ?? Infinity)) return false
  entry.seen += 1
  return entry.seen > (rule.skip ?? 0)
}

function refuseUnknown(rule: FaultRule): void {
  if (!FAULT_ACTIONS.includes(rule.do)) throw new Error(`unknown action: ${rule.do}`)
  const unknown = Object.keys(rule).find((name) => !MEMBERS.includes(name))
  if (unknown !== undefined) throw new Error(`unknown member of a rule: ${unknown}`)
}
