import type { MsgHdrs, MsgHdrsImpl } from 'nats'
import type { WireHeaders } from './wire.ts'

/** Header fields as the client takes them. Throws for a value of several lines. */
export type EncodeHeaders = (headers: WireHeaders) => MsgHdrs

/** Names come from our own code, and the client would look at each of their letters; values may come from anywhere. */
export const encodeWith =
  ({ fromRecord }: typeof MsgHdrsImpl): EncodeHeaders =>
  (headers) => {
    const lines: Record<string, string[]> = {}
    for (const name in headers) lines[name] = [requireOneLine(headers[name] ?? '')]
    return fromRecord(lines)
  }

const requireOneLine = (value: string): string => {
  if (/[\r\n]/.test(value)) throw new Error('a header has a line break')
  return value
}
