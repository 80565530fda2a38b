import { InvalidInputError } from './errors.ts'
import type { Transform } from './transform.ts'

type SimpleKind = Exclude<Transform['kind'], 'bucket' | 'truncate' | 'unknown-transform'>

const SIMPLE_KINDS: ReadonlySet<string> = new Set<SimpleKind>([
  'identity',
  'year',
  'month',
  'day',
  'hour',
  'void',
])
const PARAMETER_MAX = 2_147_483_647

/**
 * The transform that a text such as `bucket[16]` names, in any case. A name that is not known is kept as it came.
 * Throws InvalidInputError for a bucket count or width outside 1 to 2³¹ − 1. Spec: Partition Transforms.
 */
export function parseTransform(text: string): Transform {
  const lower = text.toLowerCase()
  if (isSimpleKind(lower)) return { kind: lower }
  const match = /^(bucket|truncate)\[(\d+)\]$/.exec(lower)
  if (match === null) return { kind: 'unknown-transform', text }
  const parameter = Number(match[2])
  if (parameter < 1 || parameter > PARAMETER_MAX) {
    throw new InvalidInputError(`transform ${text}: expected a number from 1 to ${PARAMETER_MAX}`)
  }
  return match[1] === 'bucket'
    ? { kind: 'bucket', bucketCount: parameter }
    : { kind: 'truncate', width: parameter }
}

/** The text of a transform as tables store it. Inverse of parseTransform. */
export function printTransform(transform: Transform): string {
  switch (transform.kind) {
    case 'bucket':
      return `bucket[${transform.bucketCount}]`
    case 'truncate':
      return `truncate[${transform.width}]`
    case 'unknown-transform':
      return transform.text
    default:
      return transform.kind
  }
}

function isSimpleKind(name: string): name is SimpleKind {
  return SIMPLE_KINDS.has(name)
}
