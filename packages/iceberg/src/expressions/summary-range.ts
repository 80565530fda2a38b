import type { PartitionFieldSummary } from '../manifest/manifest-file.ts'
import { CorruptFileError } from '../spec/errors.ts'
import type { SingleValue } from '../spec/single-value.ts'
import { decodeSingleValue } from '../spec/single-value.ts'
import type { IcebergType } from '../spec/type.ts'
import { compareLoosely } from './value-order.ts'
import type { ValueRange } from './value-test.ts'

/**
 * What a summary of a manifest list says of the partition values of a manifest. A bound that cannot be read, or is NaN, says
 * nothing; nor do bounds in the wrong order. Absent bounds mean that there is nothing but nulls and NaN, where the flags
 * allow it. Spec: Manifest Lists, field 507.
 */
export function readSummary(type: IcebergType, summary: PartitionFieldSummary): ValueRange {
  const isFloating = type.kind === 'float' || type.kind === 'double'
  const mayHaveNull = summary.containsNull
  const { lowerBound, upperBound } = summary
  if (lowerBound === undefined && upperBound === undefined) {
    const mayHaveNan = isFloating && summary.containsNan !== false
    const isExplained = mayHaveNull || (isFloating && summary.containsNan === true)
    return { mayHaveNull, mayHaveNan, mayHaveOthers: !isExplained }
  }
  const lower = readBound(type, lowerBound)
  const upper = readBound(type, upperBound)
  const isNan = Number.isNaN(lower) || Number.isNaN(upper)
  const mayHaveNan = isNan || (isFloating && summary.containsNan !== false)
  const known = { mayHaveNull, mayHaveNan, mayHaveOthers: true }
  const isWrong = lower !== undefined && upper !== undefined && compareLoosely(lower, upper) > 0
  if (isWrong) return known
  return {
    ...known,
    ...(lower === undefined || Number.isNaN(lower) ? {} : { lower }),
    ...(upper === undefined || Number.isNaN(upper) ? {} : { upper }),
  }
}

function readBound(type: IcebergType, bytes: Uint8Array | undefined): SingleValue | undefined {
  if (bytes === undefined) return undefined
  try {
    return decodeSingleValue(type, bytes)
  } catch (error) {
    if (error instanceof CorruptFileError) return undefined
    throw error
  }
}
