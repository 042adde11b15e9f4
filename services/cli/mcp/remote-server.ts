import { setTimeout as wait } from 'node:timers/promises'
import { z } from 'zod'
import { CommandError, exitCodes } from '../exit-codes.ts'
import type { RelayTarget } from './relay.ts'

interface RemoteServer {
  url: string
  apiKey: string | undefined
  version: string
}

const path = '/api/mcp'
const unauthorized = 401
const forbidden = 403
const tooMany = 429
/** Longest pause that the server may demand before a request is repeated, in seconds. */
const maxRetryAfterSeconds = 30
const maxRetries = 3

const ErrorBody = z.object({ error: z.object({ message: z.string() }) })
const JsonRpcBody = z.looseObject({ jsonrpc: z.literal('2.0') })

/** Returns the MCP endpoint of a server. Requests over its rate limit are repeated after the demanded pause. */
export const createRemoteServer = ({ url, apiKey, version }: RemoteServer): RelayTarget => ({
  url: new URL(`${url}${path}`),
  async fetch(input, init = {}) {
    const headers = new Headers(init.headers)
    headers.set('user-agent', `watchhouse-cli/${version}`)
    if (apiKey !== undefined) headers.set('authorization', `Bearer ${apiKey}`)
    for (let attempt = 1; ; attempt += 1) {
      const response = await send(url, input, { ...init, headers })
      const seconds = Number(response.headers.get('retry-after') ?? Number.NaN)
      if (response.status !== tooMany || attempt > maxRetries || !(seconds <= maxRetryAfterSeconds))
        return rejectFailure(url, response)
      await response.body?.cancel()
      await wait(seconds * 1_000, undefined, { signal: init.signal ?? undefined })
    }
  },
})

const send = async (url: string, input: string | URL, init: RequestInit): Promise<Response> => {
  try {
    return await fetch(input, init)
  } catch (error) {
    if (init.signal?.aborted) throw error
    throw new CommandError(
      `no server responds at ${url}; check WATCHHOUSE_URL, or use --clickhouse-url without a server`,
      exitCodes.unreachable,
    )
  }
}

/** Throws for responses that are no MCP messages, with the reason of the server. */
const rejectFailure = async (url: string, response: Response): Promise<Response> => {
  // The transport handles 405, with which the server rejects its event stream.
  if (response.ok || response.status === 405) return response
  const text = await response.text()
  const body = parseBody(text)
  if (JsonRpcBody.safeParse(body).success) return new Response(text, response)
  const reason = ErrorBody.safeParse(body).data?.error.message ?? `HTTP ${response.status}`
  const remedy =
    response.status === unauthorized || response.status === forbidden
      ? '; set WATCHHOUSE_API_KEY to a key with the scope mcp, or run "watchhouse login"'
      : ''
  throw new CommandError(`${url} rejected the request: ${reason}${remedy}`)
}

const parseBody = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
