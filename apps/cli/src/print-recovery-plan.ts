import type { RecoveryPlan } from './plan-recovery.ts'

/** The plan for people: what is restored, what is only reported, what went wrong. */
export function printRecoveryPlan(plan: RecoveryPlan): string {
  const { namespaces, tables, unnamed, problems } = plan
  return [
    `${namespaces.length} namespaces, ${countOf(plan, 'table')} tables, ${countOf(plan, 'view')} views`,
    ...namespaces.map(({ levels }) => `  namespace  ${levels.join('.')}`),
    ...tables.map(
      ({ kind, levels, name, metadataLocation }) =>
        `  ${kind.padEnd(9)}  ${[...levels, name].join('.')}  ${metadataLocation}`,
    ),
    ...section('Left alone, because no name is recorded (dropped, or never finished):', [
      ...unnamed.map(({ metadataLocation }) => metadataLocation),
    ]),
    ...section('Problems:', problems),
  ].join('\n')
}

function countOf({ tables }: RecoveryPlan, kind: RecoveryPlan['tables'][number]['kind']): number {
  return tables.filter((table) => table.kind === kind).length
}

function section(title: string, lines: readonly string[]): string[] {
  return lines.length === 0 ? [] : [title, ...lines.map((line) => `  ${line}`)]
}
