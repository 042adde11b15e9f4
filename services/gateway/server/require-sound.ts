import type { IncomingMessage } from 'node:http'
import { ServiceError } from '#proto/errors.ts'
import { HttpError } from '../response/http-error.ts'

/** More than browsers and the proxies behind them send; Node itself would drop what it thinks too many and say nothing. */
const maxHeaderFields = 100
/** Fields that mean two things to two readers when they are given twice. */
const givenOnce = ['host', 'authorization']

/** Refuses requests that HTTP's grammar lets through and that no honest client sends. */
export const requireSound = ({ rawHeaders, headers, httpVersionMinor }: IncomingMessage): void => {
  if (headers.host === undefined && httpVersionMinor > 0)
    throw new ServiceError('invalid', 'the Host header is missing')
  if (rawHeaders.length / 2 > maxHeaderFields) {
    throw new HttpError(431, 'too-large', `more than ${maxHeaderFields} header fields`)
  }
  for (const name of givenOnce) {
    if (timesGiven(name, rawHeaders) > 1) throw new ServiceError('invalid', `the header ${name} may be given only once`)
  }
}

const timesGiven = (name: string, rawHeaders: readonly string[]): number => {
  let times = 0
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const given = rawHeaders[at]
    if (given?.length === name.length && given.toLowerCase() === name) times += 1
  }
  return times
}
