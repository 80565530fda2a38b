import { describeSchedules } from './describe-schedules.ts'

describeSchedules({ part: 0, parts: 2 })
