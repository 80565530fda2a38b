import { DatabaseUnavailableError } from '@timelake/database/database-errors'
import {
  CommitFailedError,
  CorruptFileError,
  InvalidInputError,
  ValidationFailedError,
} from '@timelake/iceberg/spec/errors'
import { encodeError } from '@timelake/iceberg/rest/error-json'
import { JsonSyntaxError, printJson } from '@timelake/iceberg/spec/json'
import * as broker from '@timelake/storage/access-broker'
import {
  LocationError,
  ObjectNotFoundError,
  ObjectTooLargeError,
  StoreUnavailableError,
} from '@timelake/storage/object-store'
import { StorageProfileError } from '@timelake/storage/storage-profile'
import * as access from '../access/access-errors.ts'
import { IdentityProviderError } from '../access/fetch-json.ts'
import * as failed from '../catalog/catalog-errors.ts'
import * as admin from '../catalog/admin-errors.ts'
import * as webhook from '../catalog/webhook-errors.ts'
import { jsonTextAnswer, type HttpAnswer } from './exchange.ts'
import * as planning from '../planning/plan-errors.ts'
import * as refused from './request-errors.ts'

type ErrorClass = abstract new (...args: never[]) => Error

/** How long a caller should wait before it repeats a request that was not applied. */
const RETRY_AFTER_SECONDS = '1'

/**
 * The one place that knows which status and `type` an error becomes. Clients delete the files that they wrote on
 * 400, 401, 403, 404 and 409 of a commit, so none of these may follow an attempted pointer swap; that is 500
 * `CommitStateUnknownException`. 503 means "certainly not applied". Spec: REST catalog, IcebergErrorResponse.
 */
const ANSWERS: readonly (readonly [ErrorClass, status: number, type: string])[] = [
  // @NOTE Java deletes the files that it wrote on a BadRequestException and keeps them on this type.
  [JsonSyntaxError, 400, 'BadRequestException'],
  [ValidationFailedError, 400, 'ValidationException'],
  [InvalidInputError, 400, 'IllegalArgumentException'],
  [LocationError, 400, 'BadRequestException'],
  [broker.MalformedRequestError, 400, 'BadRequestException'],
  [ObjectTooLargeError, 400, 'BadRequestException'],
  [refused.NoRouteError, 400, 'BadRequestException'],
  [refused.NotAuthorizedError, 401, 'NotAuthorizedException'],
  [refused.ForbiddenError, 403, 'ForbiddenException'],
  [broker.RequestRefusedError, 403, 'ForbiddenException'],
  [failed.NoSuchWarehouseError, 404, 'NoSuchWarehouseException'],
  [failed.NoSuchNamespaceError, 404, 'NoSuchNamespaceException'],
  [failed.NoSuchTableError, 404, 'NoSuchTableException'],
  [failed.NoSuchTableIdError, 404, 'NoSuchTableException'],
  [failed.RenameSourceMissingError, 404, 'NoSuchTableException'],
  [failed.NoSuchViewError, 404, 'NoSuchViewException'],
  [failed.RenamedViewMissingError, 404, 'NoSuchViewException'],
  [planning.NoSuchPlanIdError, 404, 'NoSuchPlanIdException'],
  [planning.NoSuchPlanTaskError, 404, 'NoSuchPlanTaskException'],
  [failed.MetadataFileMissingError, 404, 'NotFoundException'],
  [webhook.NoSuchWebhookError, 404, 'NoSuchWebhookException'],
  [access.NoSuchAccountError, 404, 'NoSuchAccountException'],
  [access.NoSuchGrantError, 404, 'NoSuchGrantException'],
  [ObjectNotFoundError, 404, 'NotFoundException'],
  [refused.MethodNotAllowedError, 405, 'UnsupportedOperationException'],
  [refused.OperationNotSupportedError, 406, 'UnsupportedOperationException'],
  [planning.TableNotPlannableError, 406, 'UnsupportedOperationException'],
  [CommitFailedError, 409, 'CommitFailedException'],
  [failed.NamespaceExistsError, 409, 'AlreadyExistsException'],
  [failed.NameTakenError, 409, 'AlreadyExistsException'],
  [failed.RenameDestinationExistsError, 409, 'AlreadyExistsException'],
  [failed.NamespaceNotEmptyError, 409, 'NamespaceNotEmptyException'],
  [admin.WarehouseExistsError, 409, 'AlreadyExistsException'],
  [admin.WarehouseLocationTakenError, 409, 'AlreadyExistsException'],
  [admin.WarehouseChangedError, 409, 'WarehouseChangedException'],
  [admin.WarehouseNotEmptyError, 409, 'WarehouseNotEmptyException'],
  [webhook.WebhookExistsError, 409, 'AlreadyExistsException'],
  [access.AccountExistsError, 409, 'AlreadyExistsException'],
  [access.AccountChangedError, 409, 'AccountChangedException'],
  [webhook.WebhookChangedError, 409, 'WebhookChangedException'],
  [admin.UndropConflictError, 409, 'AlreadyExistsException'],
  [admin.PurgeBegunError, 409, 'PurgeBegunException'],
  [failed.FileAlreadyLiveError, 409, 'FileAlreadyLiveException'],
  [failed.IdempotencyConflictError, 409, 'IdempotencyConflictException'],
  [failed.EventsPrunedError, 410, 'EventsPrunedException'],
  [refused.BodyTooLargeError, 413, 'RequestTooLargeException'],
  [refused.UnsupportedEncodingError, 415, 'UnsupportedMediaTypeException'],
  [failed.ContradictoryPropertiesError, 422, 'UnprocessableEntityException'],
  // @NOTE A table whose own file is broken. Nothing was changed, and a repetition will not help.
  [CorruptFileError, 422, 'CorruptFileException'],
  [failed.CommitStateUnknownError, 500, 'CommitStateUnknownException'],
  [failed.CommitQueueFullError, 503, 'SlowDownException'],
  [failed.TooManyFollowersError, 503, 'SlowDownException'],
  [planning.TooManyPlansError, 503, 'SlowDownException'],
  [failed.NotAppliedError, 503, 'SlowDownException'],
  [StoreUnavailableError, 503, 'SlowDownException'],
  // Only from reading: what changes something finds out first what became of it (settle-change.ts).
  [DatabaseUnavailableError, 503, 'SlowDownException'],
  // Whether the token is good cannot be told while the keys of its issuer are not known.
  [IdentityProviderError, 503, 'SlowDownException'],
  // A warehouse that this process cannot serve, because its key is missing or another one. Others may.
  [StorageProfileError, 503, 'SlowDownException'],
]

/**
 * The answer for anything thrown while a request was handled, in the error envelope. An error that is not in the
 * table is a defect of ours: 500 without its message, which may hold anything.
 */
export function errorAnswer(error: unknown): HttpAnswer {
  const found = ANSWERS.find(([errorClass]) => error instanceof errorClass)
  const [, status, type] = found ?? [undefined, 500, 'InternalServerError']
  const message = found === undefined ? 'internal server error' : messageOf(error)
  const text = printJson(encodeError({ message, type, code: status }))
  const answer = jsonTextAnswer(status, text)
  return { ...answer, headers: { ...answer.headers, ...extraHeaders(error, status) } }
}

/** What the driver of the database says is for the log. */
function messageOf(error: unknown): string {
  if (error instanceof DatabaseUnavailableError) {
    return 'the database is not available: nothing was changed, try again later'
  }
  // `as`: the table has only errors.
  return (error as Error).message
}

function extraHeaders(error: unknown, status: number): Record<string, string> {
  if (error instanceof refused.MethodNotAllowedError) return { allow: error.allowed.join(', ') }
  if (error instanceof refused.NotAuthorizedError) return { 'www-authenticate': 'Bearer' }
  if (error instanceof refused.BodyTooLargeError) return { connection: 'close' }
  const retryAfterMs = retryAfterMsOf(error)
  if (retryAfterMs !== undefined) {
    return { 'retry-after': String(Math.max(1, Math.ceil(retryAfterMs / 1_000))) }
  }
  return status === 503 ? { 'retry-after': RETRY_AFTER_SECONDS } : {}
}

function retryAfterMsOf(error: unknown): number | undefined {
  const knows =
    error instanceof failed.IdempotencyConflictError || error instanceof failed.CommitQueueFullError
  return knows ? error.retryAfterMs : undefined
}
