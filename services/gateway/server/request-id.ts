import { randomUUID } from 'node:crypto'

/** What a proxy in front may have given: nothing that could forge a log line or a header. */
const sane = /^[\w.:-]{1,64}$/

/** The id that a proxy gave the request, or a new one. */
export const requestId = (given: string | string[] | undefined): string =>
  typeof given === 'string' && sane.test(given) ? given : randomUUID()
