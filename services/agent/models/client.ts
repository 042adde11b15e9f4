import type OpenAI from 'openai'
import type { Logger } from 'pino'
import type { ModelProvider } from '#proto/models.ts'
import type { Environment } from '#shared/config/environment.ts'
import { NetFailure } from '#shared/net/failure.ts'
import type { Net } from '#shared/net/net.ts'
import { readRetryAfter } from '#shared/net/retry-after.ts'
import type { GatewayAccess } from './gateway-access.ts'
import { logVerbosely, getElapsedMs } from '../verbose-log.ts'
import { createAttributionHeaders } from './attribution.ts'

interface ClientDeps {
  env: Environment
  net: Pick<Net, 'trusted'>
  log: Logger
}

/** Maximum retries before any output, after a lost connection or a status 408, 409, 429 or 5xx. */
const maxRetries = 1
/** Timeout for the whole response, in milliseconds. It is longer than any run, because callers have shorter limits. */
const responseTimeoutMs = 3_600_000
const maxBytes = 64 * 1024 * 1024

/** Returns a client that sends requests only to the address of one gateway. */
export const openModelClient = async (
  parts: ClientDeps,
  provider: ModelProvider,
  access: GatewayAccess,
): Promise<OpenAI> => {
  // Loaded on demand, because the library is large.
  const { default: Client } = await import('openai')
  return new Client({
    baseURL: access.base.href,
    apiKey: access.key,
    // Sets explicit values, because the library would otherwise read its own environment variables.
    adminAPIKey: null,
    organization: null,
    project: null,
    webhookSecret: null,
    logLevel: 'off',
    timeout: responseTimeoutMs,
    maxRetries,
    fetch: createFetch(parts, provider, access),
  })
}

type Fetch = (input: string | URL | Request, init?: RequestInit) => Promise<Response>

/**
 * Returns a fetch function for the OpenAI library. It follows no redirects, and omits headers that describe this
 * machine.
 */
const createFetch = (parts: ClientDeps, provider: ModelProvider, access: GatewayAccess): Fetch => {
  const { base } = access
  const { env, net } = parts
  return async (input, init = {}) => {
    const address = new URL(input instanceof Request ? input.url : input)
    // The key must be sent only to this gateway, even if the library requests another address.
    if (address.origin !== base.origin) throw new NetFailure('not-allowed', { host: address.hostname, rule: 'address' })
    const { method, body, signal } = init
    if (body != null && typeof body !== 'string') throw new TypeError('the body of a model request must be a string')
    const headers = { ...selectAllowedHeaders(new Headers(init.headers)), ...createAttributionHeaders(env, provider) }
    const beganMs = performance.now()
    const logOutcome = (outcome: Record<string, unknown>) =>
      logVerbosely(parts, { provider, ...outcome, tookMs: getElapsedMs(beganMs) }, 'model provider called')
    try {
      const limits = { timeoutMs: responseTimeoutMs, maxBytes }
      const response = await net.trusted(address, { method, headers, body: body ?? undefined, signal, ...limits })
      logOutcome({ status: response.status, sentBytes: body?.length ?? 0 })
      return response.ok ? response : await redactError(response, access.key)
    } catch (error) {
      logOutcome({ reason: error instanceof NetFailure ? error.message : 'aborted' })
      throw error
    }
  }
}

const maxErrorLength = 16_384
/**
 * Maximum retry delay that the library waits, in milliseconds. If the gateway demands a longer one, the agent uses the
 * fallback model or reports the delay.
 */
const maxRetryAfterMs = 5_000

/**
 * Removes the key from an error response. Gateways quote rejected keys, and the errors of the library quote the
 * response.
 */
const redactError = async (response: Response, key: string): Promise<Response> => {
  const text = (await response.text()).replaceAll(key, '[hidden]').slice(0, maxErrorLength)
  const { status, statusText } = response
  const headers = new Headers(response.headers)
  if ((readRetryAfter(headers) ?? 0) > maxRetryAfterMs) headers.set('x-should-retry', 'false')
  return new Response(text || null, { status, statusText, headers })
}

/** The only headers of the library that are sent. Its other headers describe the machine and the runtime. */
const allowedHeaders = ['accept', 'authorization', 'content-type'] as const

const selectAllowedHeaders = (headers: Headers): Record<string, string> =>
  Object.fromEntries(
    allowedHeaders.flatMap((name) => {
      const value = headers.get(name)
      return value === null ? [] : [[name, value]]
    }),
  )
