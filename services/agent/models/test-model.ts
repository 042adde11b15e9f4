import type { Logger } from 'pino'
import { APIError } from 'openai'
import type { ModelTestResult } from '#proto/models.ts'
import { NetFailure } from '#shared/net/failure.ts'
import { toProviderFailure } from '../loop/provider-failure.ts'
import { openModelClient } from './client.ts'
import { formatModelReference } from './gateways.ts'
import { chooseDefaultModel, chooseGatewayAccess, resolveModelReference } from './model-choice.ts'
import { resolveModelId } from './offered-models.ts'
import type { ModelAccess } from './saved-settings.ts'
import type { CallContext } from '#proto/call.ts'

const timeoutMs = 20_000
/** Enough for models that reason before they respond. */
const maxTokens = 256

/**
 * Sends a short request to the default model. A failed request is a result. Throws `unavailable` without a key.
 */
export const testDefaultModel = async (
  { env, net }: ModelAccess,
  log: Logger,
  call: CallContext,
): Promise<ModelTestResult> => {
  const reference =
    chooseDefaultModel(env, []) ?? resolveModelReference(env, { requested: null, call, ownProviders: [] })
  const access = chooseGatewayAccess(env, reference.provider, { request: undefined, signedIn: undefined })
  const client = await openModelClient({ env, net, log }, reference.provider, access)
  const beganMs = performance.now()
  const result = (reason: string | null): ModelTestResult => ({
    isOk: reason === null,
    reason,
    model: formatModelReference(reference),
    tookMs: Math.round(performance.now() - beganMs),
  })
  try {
    await client.chat.completions.create(
      {
        model: resolveModelId(env, reference),
        max_tokens: maxTokens,
        messages: [{ role: 'user', content: 'Reply with the word OK.' }],
      },
      { signal: call.signal, timeout: timeoutMs, maxRetries: 0 },
    )
    return result(null)
  } catch (error) {
    call.signal.throwIfAborted()
    return result(describeFailure(error))
  }
}

/** Returns the cause with the status, but never texts of the gateway, which can contain keys and account names. */
const describeFailure = (error: unknown): string => {
  const failure = toProviderFailure(error, false)
  if (failure === undefined) throw error
  const { cause } = error instanceof APIError ? error : { cause: error }
  const details = cause instanceof NetFailure ? cause.message : error instanceof APIError ? error.status : undefined
  const [reason = ''] = failure.message.split(';')
  return details === undefined ? reason : `${reason} (${typeof details === 'number' ? `HTTP ${details}` : details})`
}
