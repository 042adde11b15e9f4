/**
 * Parses a `Retry-After` header, either seconds or an HTTP date, and returns the delay from `nowMs` in milliseconds.
 * Undefined if it is invalid.
 */
export const parseRetryAfter = (header: string | null, nowMs: number): number | undefined => {
  const value = header?.trim() ?? ''
  if (/^\d{1,9}(\.\d+)?$/.test(value)) return Number(value) * 1_000
  const inMs = Date.parse(normalizeHttpDate(value)) - nowMs
  return Number.isNaN(inMs) ? undefined : Math.max(0, inMs)
}

/**
 * Returns the delay in the `Retry-After` header of a response in milliseconds; undefined if missing or invalid.
 * Dates are relative to the `Date` header.
 */
export const readRetryAfter = (headers: Pick<Headers, 'get'>): number | undefined =>
  parseRetryAfter(headers.get('retry-after'), Date.parse(headers.get('date') ?? ''))

/**
 * Returns a header in one of the three HTTP date formats as text for `Date.parse`, and any other header as an empty
 * text: `Date.parse` accepts almost any text with a digit.
 */
const normalizeHttpDate = (header: string): string => {
  // The `asctime` format has no zone.
  if (/^[A-Z][a-z]{2} [A-Z][a-z]{2} [ \d]\d [\d:]{8} \d{4}$/.test(header)) return `${header} GMT`
  return /^[A-Z][a-z]{2,8}, /.test(header) ? header : ''
}
