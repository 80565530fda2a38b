import { ALWAYS_FALSE, ALWAYS_TRUE, type Predicate } from './expression.ts'

/** All of them, in the normal form of Predicate; `true` for none. */
export function and(children: readonly Predicate[]): Predicate {
  return combine('and', children)
}

/** At least one of them, in the normal form of Predicate; `false` for none. */
export function or(children: readonly Predicate[]): Predicate {
  return combine('or', children)
}

function combine(kind: 'and' | 'or', children: readonly Predicate[]): Predicate {
  const [neutral, absorbing] = kind === 'and' ? ['true', 'false'] : ['false', 'true']
  const kept: Predicate[] = []
  for (const child of children) {
    if (child.kind === absorbing) return child
    if (child.kind === kind) for (const grandchild of child.children) kept.push(grandchild)
    else if (child.kind !== neutral) kept.push(child)
  }
  if (kept.length > 1) return { kind, children: kept }
  return kept[0] ?? (kind === 'and' ? ALWAYS_TRUE : ALWAYS_FALSE)
}
