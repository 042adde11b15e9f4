import { computeAgeMs } from '#shared/time/clock.ts'
import { hash } from 'node:crypto'
import { z } from 'zod'
import type { CallContext } from '#proto/call.ts'
import { ServiceError } from '#proto/errors.ts'
import type { ModelSignIn } from '#proto/models.ts'
import type { Environment } from '#shared/config/environment.ts'
import type { RotatingKey } from '#shared/config/setting.ts'
import { readSealKey } from '#shared/seal/config.ts'
import { unseal, seal } from '#shared/seal/seal.ts'
import type { ServiceContext } from '#shared/lifecycle/service.ts'
import type { Net } from '#shared/net/net.ts'
import { getGatewayBaseUrl, type GatewayAccess, getCallerAccess } from './gateway-access.ts'
import { startSignIn, finishSignIn } from './sign-in-protocol.ts'

/** The sign-in of users who want to use AnyRouter with their own account. */
export interface SignIn {
  /** Returns the caller's access to AnyRouter; undefined if the caller is not signed in. */
  accessOf(call: CallContext): Promise<GatewayAccess | undefined>
  state(call: CallContext): Promise<ModelSignIn>
  /** Starts a sign-in and returns the URL to redirect the browser to. */
  begin(wanted: { redirectUri: string; returnTo: string }, call: CallContext): Promise<string>
  /** Completes a sign-in with the data of its callback. `signedIn` is false if the user declined. */
  end(sentBack: { state: string; query: string }, call: CallContext): Promise<{ returnTo: string; signedIn: boolean }>
  /** Deletes the stored key of the caller. */
  forget(call: CallContext): Promise<ModelSignIn>
}

type SignInDeps = Pick<ServiceContext, 'env' | 'clock' | 'store'> & { net: Pick<Net, 'trusted'> }

const provider = 'gateway_c'
const signInTimeoutMs = 10 * 60_000
/** Lifetime of a key if the gateway does not report one, in milliseconds. */
const defaultKeyLifetimeMs = 30 * 86_400_000

const PendingSignIn = z.object({
  subject: z.string(),
  state: z.string(),
  verifier: z.string(),
  clientId: z.string(),
  redirectUri: z.string(),
  returnTo: z.string(),
  base: z.string(),
})
type PendingSignIn = z.infer<typeof PendingSignIn>
const StoredKey = z.object({ sealed: z.string(), expiresAtMs: z.int() })
const SealedContent = z.object({ key: z.string(), base: z.string() })

export const openSignIn = (parts: SignInDeps): SignIn => {
  const { env, store, clock } = parts
  const base = () => getGatewayBaseUrl(env, provider).base

  /**
   * Returns the caller's key with its expiry; undefined if there is none, or if the base URL of AnyRouter has changed
   * since the key was stored.
   */
  const storedKeyOf = async (call: CallContext) => {
    const secret = readSealKey(env)
    if (secret === undefined || call.identity.kind !== 'user') return undefined
    const stored = await store.get(createKeyName(call), StoredKey)
    if (stored === undefined || computeAgeMs(clock, stored.expiresAtMs) >= 0) return undefined
    const text = unseal(stored.sealed, createSealContext(call), secret)
    if (text === undefined) return undefined
    const content = SealedContent.parse(JSON.parse(text))
    return content.base === base().href ? { key: content.key, expiresAtMs: stored.expiresAtMs } : undefined
  }

  const state = async (call: CallContext): Promise<ModelSignIn> => {
    const reason = findDisabledReason(env, call)?.message ?? null
    const stored = await storedKeyOf(call)
    const expiresAtMs = stored?.expiresAtMs ?? null
    return { provider, possible: reason === null, reason, signedIn: stored !== undefined, expiresAtMs }
  }

  return {
    state,
    accessOf: async (call) => {
      const stored = await storedKeyOf(call)
      return stored && getCallerAccess(env, provider, stored.key, 'the sign-in with AnyRouter')
    },
    begin: async ({ redirectUri, returnTo }, call) => {
      requireSealKey(env, call)
      const { url, started } = await startSignIn(parts, { base: base(), redirectUri, signal: call.signal })
      const value = { ...started, returnTo, subject: call.identity.subject }
      const pending = { value, expiresInMs: signInTimeoutMs }
      await store.update(createPendingName(started.state), PendingSignIn, () => pending)
      return url
    },
    end: async (sentBack, call) => {
      const secret = requireSealKey(env, call)
      const started = await takePending(parts, sentBack.state, call)
      const granted = await finishSignIn(parts, { started, query: sentBack.query, signal: call.signal })
      if (granted === undefined) return { returnTo: started.returnTo, signedIn: false }
      const { key, expiresInMs = defaultKeyLifetimeMs } = granted
      const sealed = seal(JSON.stringify({ key, base: started.base }), createSealContext(call), secret)
      const value = { sealed, expiresAtMs: clock.now() + expiresInMs }
      await store.update(createKeyName(call), StoredKey, () => ({ value, expiresInMs }))
      return { returnTo: started.returnTo, signedIn: true }
    },
    forget: async (call) => {
      await store.update(createKeyName(call), StoredKey, () => ({ value: undefined }))
      return state(call)
    },
  }
}

/**
 * Returns and removes a pending sign-in. Only the user who started it can take it; otherwise a crafted callback could
 * connect the user to another account.
 */
const takePending = async ({ store }: SignInDeps, state: string, call: CallContext): Promise<PendingSignIn> => {
  let taken: PendingSignIn | undefined
  await store.update(createPendingName(state), PendingSignIn, (current) => {
    taken = current?.subject === call.identity.subject ? current : undefined
    return { value: taken ? undefined : current }
  })
  if (taken) return taken
  throw new ServiceError('conflict', 'AnyRouter sign-in expired or started by another user; start again')
}

const findDisabledReason = (env: Environment, { identity }: CallContext): ServiceError | undefined => {
  if (identity.kind !== 'user')
    return new ServiceError(
      'forbidden',
      'cannot sign in to AnyRouter: not signed in to Watchhouse; sign in to Watchhouse first',
    )
  if (readSealKey(env) === undefined)
    return new ServiceError('not-implemented', 'keys cannot be stored: set SVC_USER_CONNECTIONS_ENCRYPTION_KEY')
  return undefined
}

const requireSealKey = (env: Environment, call: CallContext): RotatingKey => {
  const refusal = findDisabledReason(env, call)
  const secret = readSealKey(env)
  if (refusal || secret === undefined) throw refusal
  return secret
}

const createSealContext = ({ identity }: CallContext): string => `key of gateway C for ${identity.subject}`
const createPendingName = (state: string): string => `agent:sign-in:${state}`
const createKeyName = ({ identity }: CallContext): string =>
  `agent:model-key:${hash('sha256', identity.subject, 'base64url')}`
