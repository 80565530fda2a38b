import type { S3Client } from './s3-client.ts'
import { parseS3ObjectLocation } from './s3-location.ts'
import { unavailable } from './s3-verdict.ts'

/** Deletes one object without looking whether it was there. Errors: LocationError, StoreUnavailableError. */
export async function deleteObject(client: S3Client, location: string): Promise<void> {
  const answer = await client.send({ method: 'DELETE', place: parseS3ObjectLocation(location) })
  if (answer.verdict === 'ok' || answer.verdict === 'absent') return
  throw unavailable(`delete ${location}`, answer.facts)
}
