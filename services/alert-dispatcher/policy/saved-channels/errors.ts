import { ServiceError } from '#proto/errors.ts'

/** Returns whether two URLs differ in scheme, host or port. A missing or invalid URL counts as different. */
export const isOtherOrigin = (one: string | undefined, other: string | undefined): boolean => {
  const origin = parseOrigin(one)
  return origin === undefined || origin !== parseOrigin(other)
}

const parseOrigin = (text = ''): string | undefined => {
  if (!URL.canParse(text)) return undefined
  const { protocol, host } = new URL(text)
  return `${protocol}//${host}`
}

/** Returns an `invalid` error that names the parameter and never its value. */
export const createInvalidParameterError = (parameter: string, sentence: string): ServiceError =>
  new ServiceError('invalid', `${parameter} ${sentence}`, { details: { parameter } })
