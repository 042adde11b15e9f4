import type { Net } from '#shared/net/net.ts'
import { parseJson } from '#shared/text/strings.ts'

/** Sends a request to an operator-configured address and returns status and JSON body. Throws if none arrives. */
export type FetchJson = (url: string, options?: FetchOptions) => Promise<JsonHttpResponse>

interface FetchOptions {
  method: 'GET' | 'POST'
  bearer?: string
  /** Request body, sent as JSON. */
  json?: unknown
}

export interface JsonHttpResponse {
  status: number
  /** The parsed body; undefined if it is not JSON. */
  body: unknown
}

/** Timeout of a request. It is short, because an API request waits for its authentication. */
const timeoutMs = 5_000
const maxBytes = 256 * 1024

export const createFetchJson =
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
