/**
 * Returns the delay of a `Retry-After` header in milliseconds: seconds, or an HTTP date relative to `nowMs`. Undefined for anything else.
 */
export const retryAfterIn = (header: string | null, nowMs: number): number | undefined => {
  const value = header?.trim() ?? ''
  if (/^\d{1,9}(\.\d+)?$/.test(value)) return Number(value) * 1_000
  const inMs = Date.parse(dateIn(value)) - nowMs
  return Number.isNaN(inMs) ? undefined : Math.max(0, inMs)
}

/** Returns the same delay, relative to the `Date` header of the response. */
export const retryAfterOf = (headers: Pick<Headers, 'get'>): number | undefined =>
  retryAfterIn(headers.get('retry-after'), Date.parse(headers.get('date') ?? ''))

/** Returns the text if it is one of the three date formats of HTTP, because `Date.parse` accepts almost any text with a digit. */
const dateIn = (header: string): string => {
  // The `asctime` format has no zone.
  if (/^[A-Z][a-z]{2} [A-Z][a-z]{2} [ \d]\d [\d:]{8} \d{4}$/.test(header)) return `${header} GMT`
  return /^[A-Z][a-z]{2,8}, /.test(header) ? header : ''
}
