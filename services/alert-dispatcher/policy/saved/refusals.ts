import { ServiceError } from '#proto/errors.ts'

/** Whether two addresses differ in scheme, host or port. An address that is missing or cannot be read is another one. */
export const isOtherOrigin = (one: string | undefined, other: string | undefined): boolean => {
  const origin = originOf(one)
  return origin === undefined || origin !== originOf(other)
}

const originOf = (text = ''): string | undefined => {
  if (!URL.canParse(text)) return undefined
  const { protocol, host } = new URL(text)
  return `${protocol}//${host}`
}

/** What cannot be meant, with the name of the parameter and never with its text. */
export const wrong = (parameter: string, sentence: string): ServiceError =>
  new ServiceError('invalid', `${parameter} ${sentence}`, { details: { parameter } })
