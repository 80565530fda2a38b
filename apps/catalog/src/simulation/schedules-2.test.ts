import { describeSchedules } from './describe-schedules.ts'

describeSchedules({ part: 1, parts: 2 })
