import { printJson } from '@timelake/iceberg/spec/json'
import type { ViewMetadata } from '@timelake/iceberg/view/view-metadata'

/** JSON text for `view-created`, `view-registered` and `view-committed`: where the metadata is and was, and the current version. */
export function viewEventPayload(view: {
  readonly metadataLocation: string
  readonly previousMetadataLocation?: string
  readonly metadata: ViewMetadata
}): string {
  return printJson({
    'metadata-location': view.metadataLocation,
    'previous-metadata-location': view.previousMetadataLocation,
    'current-version-id': BigInt(view.metadata.currentVersionId),
  })
}

/** JSON text for `view-dropped`. */
export function viewDroppedPayload(metadataLocation: string): string {
  return printJson({ 'metadata-location': metadataLocation })
}
