import { appendFileSync } from 'node:fs'
import { noFaults, type ReachFaultPoint } from '@timelake/timelake/contract/fault-points'
import type { Settings } from '@timelake/timelake/contract/settings'

/**
 * For crash tests: kills this process, without any chance to clean up, when the step of TIMELAKE_FAULT_POINT is reached
 * for the TIMELAKE_FAULT_HIT-th time. Before that, one line goes to the file of TIMELAKE_FAULT_PROOF and to standard
 * error, so that a test can tell that it hit the step and not something else.
 */
export function makeFaultPoint(
  settings: Pick<Settings, 'faultPoint' | 'faultHit' | 'faultProofFile'>,
): ReachFaultPoint {
  const { faultPoint, faultHit, faultProofFile } = settings
  if (faultPoint === undefined) return noFaults
  let hits = 0
  return (point) => {
    if (point !== faultPoint) return
    hits += 1
    if (hits !== faultHit) return
    const proof = `fault point ${point} hit ${hits}\n`
    if (faultProofFile !== undefined) appendFileSync(faultProofFile, proof)
    process.stderr.write(proof)
    process.kill(process.pid, 'SIGKILL')
  }
}
