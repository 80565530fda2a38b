/** No plan has this id: none ever had, it is another table's or caller's, it was cancelled, or its time is over. */
export class NoSuchPlanIdError extends Error {
  override readonly name = 'NoSuchPlanIdError'
  constructor(planId: string) {
    super(`Cannot find plan with id ${shown(planId)}`)
  }
}

/** The same of a plan task; also when what it would read is not in the table any more. */
export class NoSuchPlanTaskError extends Error {
  override readonly name = 'NoSuchPlanTaskError'
  constructor(planTask: string) {
    super(`Could not find tasks for plan task ${shown(planTask)}`)
  }
}

/** A table that only its clients can plan; they may do so. */
export class TableNotPlannableError extends Error {
  override readonly name = 'TableNotPlannableError'
}

/** So many plans are worked on already; nothing was begun. */
export class TooManyPlansError extends Error {
  override readonly name = 'TooManyPlansError'
  constructor(plansMax: number) {
    super(`${plansMax} scans are planned already: try again later`)
  }
}

const SHOWN_CHARACTERS_MAX = 80

function shown(text: string): string {
  return text.length <= SHOWN_CHARACTERS_MAX ? text : `${text.slice(0, SHOWN_CHARACTERS_MAX)}…`
}
