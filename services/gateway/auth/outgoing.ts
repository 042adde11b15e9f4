import type { Net } from '#shared/net/net.ts'
import { parseJson } from '#shared/text/parse-json.ts'

/** Asks an address that the operator named, and gives the status and the JSON of its answer. Throws when there is none. */
export type AskJson = (url: string, asked?: Asked) => Promise<JsonAnswer>

interface Asked {
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

/** Somebody waits to be let in. */
const timeoutMs = 5_000
const maxBytes = 256 * 1024

export const openAsk =
  ({ trusted: send }: Net): AskJson =>
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
