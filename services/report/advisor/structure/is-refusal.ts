import { ServiceError } from '#proto/errors.ts'

/** Whether a host answered that it does not do what was asked; one that did not answer at all has refused nothing. */
export const isRefusal = (error: unknown): boolean =>
  error instanceof ServiceError && (error.code !== 'unavailable' || error.details?.clickhouseCode !== undefined)
