import type OpenAI from 'openai'
import type { Logger } from 'pino'
import type { ModelProvider } from '#proto/models.ts'
import type { Environment } from '#shared/config/environment.ts'
import { NetFailure } from '#shared/net/failure.ts'
import type { Net } from '#shared/net/net.ts'
import { retryAfterOf } from '#shared/net/retry-after.ts'
import type { GatewayAccess } from './access.ts'
import { logVerbosely, tookMs } from '../verbose.ts'
import { attributionOf } from './attribution.ts'

interface Parts {
  env: Environment
  net: Pick<Net, 'trusted'>
  log: Logger
}

/** The timeout for response headers; the run limits the total time. */
const requestTimeoutMs = 45_000
/** One retry after a lost connection, a 408, 409, 429 or 5xx, before any output. */
const maxRetries = 1
/** Longer than any run, so that the reader of a response decides when to cancel. */
const wholeTimeoutMs = 3_600_000
const maxBytes = 64 * 1024 * 1024

/** Returns a client that sends requests only to the address of one gateway. */
export const openClient = async (parts: Parts, provider: ModelProvider, access: GatewayAccess): Promise<OpenAI> => {
  // Loaded on demand, because the library is large.
  const { default: Client } = await import('openai')
  return new Client({
    baseURL: access.base.href,
    apiKey: access.key,
    // Otherwise the library reads environment variables of its own.
    adminAPIKey: null,
    organization: null,
    project: null,
    webhookSecret: null,
    logLevel: 'off',
    timeout: requestTimeoutMs,
    maxRetries,
    fetch: sendTo(parts, provider, access),
  })
}

type Fetch = (input: string | URL | Request, init?: RequestInit) => Promise<Response>

/**
 * Returns a fetch function for the library. It follows no redirects and sends no headers that describe this machine.
 */
const sendTo = (parts: Parts, provider: ModelProvider, access: GatewayAccess): Fetch => {
  const { base } = access
  const { env, net } = parts
  return async (input, init = {}) => {
    const address = new URL(input instanceof Request ? input.url : input)
    // The key must reach only this gateway, even if the library chooses another address.
    if (address.origin !== base.origin) throw new NetFailure('not-allowed', { host: address.hostname, rule: 'address' })
    const { method, body, signal } = init
    if (body != null && typeof body !== 'string') throw new TypeError('model gateways are sent text')
    const headers = { ...allowedOf(new Headers(init.headers)), ...attributionOf(env, provider) }
    const beganMs = performance.now()
    const logOutcome = (outcome: Record<string, unknown>) =>
      logVerbosely(parts, { provider, ...outcome, tookMs: tookMs(beganMs) }, 'model provider called')
    try {
      const limits = { timeoutMs: wholeTimeoutMs, maxBytes }
      const response = await net.trusted(address, { method, headers, body: body ?? undefined, signal, ...limits })
      logOutcome({ status: response.status, sentBytes: body?.length ?? 0 })
      return response.ok ? response : await redactedError(response, access.key)
    } catch (error) {
      logOutcome({ reason: error instanceof NetFailure ? error.message : 'aborted' })
      throw error
    }
  }
}

const maxErrorLength = 16_384
/**
 * If the gateway requests a longer delay, the library does not retry: the caller gets the delay, or the fallback model
 * is used.
 */
const maxRetryAfterMs = 5_000

/**
 * Removes the key from an error response, because gateways quote rejected keys and the library quotes responses in its
 * errors.
 */
const redactedError = async (response: Response, key: string): Promise<Response> => {
  const text = (await response.text()).replaceAll(key, '[hidden]').slice(0, maxErrorLength)
  const { status, statusText } = response
  const headers = new Headers(response.headers)
  if ((retryAfterOf(headers) ?? 0) > maxRetryAfterMs) headers.set('x-should-retry', 'false')
  return new Response(text || null, { status, statusText, headers })
}

/** The header fields that gateways need. The library adds others about machine, runtime and its own variables. */
const allowedHeaders = ['accept', 'authorization', 'content-type'] as const

const allowedOf = (headers: Headers): Record<string, string> =>
  Object.fromEntries(
    allowedHeaders.flatMap((name) => {
      const value = headers.get(name)
      return value === null ? [] : [[name, value]]
    }),
  )
