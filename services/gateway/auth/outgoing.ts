import type { Net } from '#shared/net/net.ts'
import { parseJson } from '#shared/text/strings.ts'

/** Requests an address that the operator configured, and returns the status and the JSON body. Throws without a response. */
export type FetchJson = (url: string, options?: FetchOptions) => Promise<JsonAnswer>

interface FetchOptions {
  method: 'GET' | 'POST'
  bearer?: string
  /** What is sent, as JSON. */
  json?: unknown
}

export interface JsonAnswer {
  status: number
  /** Undefined when it is no JSON. */
  body: unknown
}

/** A caller waits for authentication. */
const timeoutMs = 5_000
const maxBytes = 256 * 1024

export const openFetchJson =
  ({ trusted: send }: Net): FetchJson =>
  async (url, { method, bearer, json } = { method: 'GET' }) => {
    const headers = {
      accept: 'application/json',
      ...(bearer !== undefined && { authorization: `Bearer ${bearer}` }),
      ...(json !== undefined && { 'content-type': 'application/json' }),
    }
    const body = json === undefined ? undefined : JSON.stringify(json)
    const response = await send(url, { method, headers, body, timeoutMs, maxBytes })
    return { status: response.status, body: parseJson(await response.text()) }
  }
