import { isJsonArray, printJson } from '@timelake/iceberg/spec/json'
import type { JsonObject } from '@timelake/iceberg/spec/json-value'
import { decodeTableMetadata } from '@timelake/iceberg/spec/table-metadata-json'
import { compareMetadata, type Difference } from './compare-metadata.ts'
import type { Answer, Contestant } from './contestant.ts'
import { differenceDeviation, statusDeviation, type Step } from './deviations.ts'
import { newCommit, newCreateCommit, newCreateRequest } from './generate-request.ts'
import type { Random } from './random.ts'

export interface SequenceSides {
  /** What reports call the sequence. */
  readonly title: string
  readonly table: string
  readonly reference: Contestant
  readonly ours: Contestant
  /** Whether tables may begin with a create commit. */
  readonly allowsCreateCommit: boolean
  readonly movesTables: boolean
  readonly commitCount: number
  /** Called with each step, for a trace. */
  readonly onStep?: (step: Step) => void
}

/** What came of one sequence; `failure` is a report of the first step that no deviation explains. */
export interface SequenceResult {
  readonly stepCount: number
  readonly acceptedCount: number
  readonly deviations: readonly string[]
  readonly failure?: string
}

/** Sends one random sequence to both sides and compares them after every step. */
export async function judgeSequence(random: Random, sides: SequenceSides): Promise<SequenceResult> {
  const state = { stepCount: 0, acceptedCount: 0, deviations: [] as string[] }
  let current: JsonObject | undefined
  let ours: JsonObject | undefined
  for (let commits = 0; commits <= sides.commitCount; commits += 1) {
    const step = await takeStep(random, sides, current)
    sides.onStep?.(step)
    const verdict = judgeStep(step, ours)
    state.stepCount += 1
    state.deviations.push(...verdict.deviations)
    if (verdict.problem !== undefined)
      return { ...state, failure: report(sides.title, step, verdict.problem) }
    if (step.reference.status === 200) state.acceptedCount += 1
    if (verdict.endsSequence === true) return state
    const isFollowing = !isTogether(verdict, step)
    if (isFollowing && !follow(sides.ours, step, current)) return state
    current = step.reference.metadata ?? current
    ours = isFollowing ? current : (step.ours.metadata ?? ours)
  }
  return state
}

async function takeStep(
  random: Random,
  sides: SequenceSides,
  current: JsonObject | undefined,
): Promise<Step> {
  const { reference, ours } = sides
  if (current !== undefined) {
    const options = { nowMs: Date.now(), movesTables: sides.movesTables }
    const request = newCommit(random, decodeTableMetadata(printJson(current)), options)
    return { request, reference: await reference.commit(request), ours: await ours.commit(request) }
  }
  if (sides.allowsCreateCommit && random.chance(0.4)) {
    const request = newCreateCommit(random)
    return { request, reference: await reference.commit(request), ours: await ours.commit(request) }
  }
  const request = newCreateRequest(random, sides.table)
  return { request, reference: await reference.create(request), ours: await ours.create(request) }
}

/** Whether both sides still hold the same metadata. */
function isTogether(verdict: Verdict, { reference, ours }: Step): boolean {
  return verdict.deviations.length === 0 || (reference.status !== 200 && ours.status !== 200)
}

/** After a deviation our side goes on from what the reference has. */
function follow(ours: Contestant, { reference }: Step, current: JsonObject | undefined): boolean {
  const metadata = reference.metadata ?? current
  return metadata !== undefined && ours.adopt(metadata)
}

interface Verdict {
  readonly deviations: readonly string[]
  readonly endsSequence?: boolean
  readonly problem?: string
}

function judgeStep(step: Step, before: JsonObject | undefined): Verdict {
  const deviation = statusDeviation(step)
  if (deviation !== undefined) {
    return { deviations: [deviation.name], endsSequence: deviation.endsSequence === true }
  }
  if (step.reference.status !== step.ours.status)
    return { deviations: [], problem: 'statuses differ' }
  if (step.reference.metadata === undefined || step.ours.metadata === undefined)
    return { deviations: [] }
  const broken = brokenClock(before, step.ours.metadata)
  if (broken !== undefined) return { deviations: [], problem: broken }
  const differences = compareMetadata(step.reference.metadata, step.ours.metadata)
  const deviations = differences.map((difference) => differenceDeviation(step, difference)?.name)
  const unexplained = differences.filter((_, position) => deviations[position] === undefined)
  if (unexplained.length > 0)
    return { deviations: [], problem: unexplained.map(printDifference).join('\n') }
  return { deviations: [...new Set(deviations.filter((name) => name !== undefined))] }
}

/** Times of ours that run backwards; what the base had wrong already, Java's minute of tolerance, stays as it was. */
function brokenClock(before: JsonObject | undefined, after: JsonObject): string | undefined {
  for (const member of ['snapshot-log', 'metadata-log']) {
    const timesMs = logTimesMs(after, member)
    const isOld = (position: number) => position < logTimesMs(before, member).length
    const isBackwards = (timeMs: number, position: number) =>
      !isOld(position) && timeMs < (timesMs[position - 1] ?? 0)
    if (timesMs.some(isBackwards)) return `${member} runs backwards`
  }
  const updatedMs = (metadata: JsonObject | undefined) => Number(metadata?.['last-updated-ms'] ?? 0)
  return updatedMs(after) < updatedMs(before) ? 'last-updated-ms runs backwards' : undefined
}

function logTimesMs(metadata: JsonObject | undefined, member: string): readonly number[] {
  const log = metadata?.[member]
  return (isJsonArray(log) ? log : []).map((entry) => Number((entry as JsonObject)['timestamp-ms']))
}

function report(title: string, step: Step, problem: string): string {
  return `${title}: ${problem}\n${printStep(step)}`
}

/** The request and both answers, in a few lines. */
export function printStep(step: Step): string {
  return [
    `  request   ${printJson(step.request)}`,
    `  reference ${printAnswer(step.reference)}`,
    `  ours      ${printAnswer(step.ours)}`,
  ].join('\n')
}

function printAnswer({ status, message }: Answer): string {
  return `${status} ${message.slice(0, 300).replaceAll('\n', ' ')}`
}

function printDifference({ path, reference, ours }: Difference): string {
  const print = (value: Difference['ours']) =>
    value === undefined ? 'absent' : printJson(value).slice(0, 300)
  return `${path}: reference ${print(reference)}, ours ${print(ours)}`
}
