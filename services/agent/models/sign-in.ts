import { ageMs } from '#shared/time/clock.ts'
import { hash } from 'node:crypto'
import { z } from 'zod'
import type { Call } from '#proto/call.ts'
import { ServiceError } from '#proto/errors.ts'
import type { ModelSignIn } from '#proto/models.ts'
import type { Environment } from '#shared/config/environment.ts'
import type { RotatingKey } from '#shared/config/setting.ts'
import { sealKey } from '#shared/seal/config.ts'
import { open, seal } from '#shared/seal/seal.ts'
import type { Context } from '#shared/lifecycle/service.ts'
import { addressOf, type GatewayAccess, ownAccess } from './access.ts'
import { begin, end } from './sign-in-protocol.ts'

/** People who ask gateway C on their own account there. */
export interface SignIn {
  /** The caller's own way to gateway C; undefined while they are not signed in. */
  accessOf(call: Call): Promise<GatewayAccess | undefined>
  state(call: Call): Promise<ModelSignIn>
  /** Where the browser goes. */
  begin(wanted: { redirectUri: string; returnTo: string }, call: Call): Promise<string>
  end(sentBack: { state: string; query: string }, call: Call): Promise<{ returnTo: string; signedIn: boolean }>
  forget(call: Call): Promise<ModelSignIn>
}

type Parts = Pick<Context, 'env' | 'net' | 'clock' | 'store'>

const provider = 'gateway_c'
const beginningMs = 10 * 60_000
/** How long a key is kept of which the gateway does not say when it ends. */
const keptMs = 30 * 86_400_000

const Beginning = z.object({
  subject: z.string(),
  state: z.string(),
  verifier: z.string(),
  clientId: z.string(),
  redirectUri: z.string(),
  returnTo: z.string(),
  base: z.string(),
})
type Beginning = z.infer<typeof Beginning>
const Kept = z.object({ sealed: z.string(), expiresAtMs: z.int() })
const Content = z.object({ key: z.string(), base: z.string() })

export const openSignIn = (parts: Parts): SignIn => {
  const { env, store, clock } = parts
  const base = () => addressOf(env, provider).base

  /** The caller's key with its end; one that was given by another gateway than there is now stays closed. */
  const keptOf = async (call: Call) => {
    const secret = sealKey(env)
    if (secret === undefined || call.identity.kind !== 'user') return undefined
    const kept = await store.get(keyName(call), Kept)
    const text = kept && ageMs(clock, kept.expiresAtMs) < 0 ? open(kept.sealed, about(call), secret) : undefined
    if (kept === undefined || text === undefined) return undefined
    const content = Content.parse(JSON.parse(text))
    return content.base === base().href ? { key: content.key, expiresAtMs: kept.expiresAtMs } : undefined
  }

  const state = async (call: Call): Promise<ModelSignIn> => {
    const reason = whyNot(env, call)?.message ?? null
    const kept = await keptOf(call)
    const expiresAtMs = kept?.expiresAtMs ?? null
    return { provider, possible: reason === null, reason, signedIn: kept !== undefined, expiresAtMs }
  }

  return {
    state,
    accessOf: async (call) => {
      const kept = await keptOf(call)
      return kept && ownAccess(env, provider, kept.key, 'the sign-in with gateway C')
    },
    begin: async ({ redirectUri, returnTo }, call) => {
      requirePossible(env, call)
      const { url, begun } = await begin(parts, { base: base(), redirectUri, signal: call.signal })
      const value = { ...begun, returnTo, subject: call.identity.subject }
      await store.update(beginningName(begun.state), Beginning, () => ({ value, expiresInMs: beginningMs }))
      return url
    },
    end: async (sentBack, call) => {
      const secret = requirePossible(env, call)
      const begun = await takeBeginning(parts, sentBack.state, call)
      const { returnTo } = begun
      const given = await end(parts, { begun, query: sentBack.query, signal: call.signal })
      if (given === undefined) return { returnTo, signedIn: false }
      const { key, expiresInMs = keptMs } = given
      const sealed = seal(JSON.stringify({ key, base: begun.base }), about(call), secret)
      const value = { sealed, expiresAtMs: clock.now() + expiresInMs }
      await store.update(keyName(call), Kept, () => ({ value, expiresInMs }))
      return { returnTo, signedIn: true }
    },
    forget: async (call) => {
      await store.update(keyName(call), Kept, () => ({ value: undefined }))
      return state(call)
    },
  }
}

/** Once, and only by whoever began it: what somebody else was sent back with must not become the caller's account. */
const takeBeginning = async ({ store }: Parts, state: string, call: Call): Promise<Beginning> => {
  let taken: Beginning | undefined
  await store.update(beginningName(state), Beginning, (current) => {
    taken = current?.subject === call.identity.subject ? current : undefined
    return { value: taken ? undefined : current }
  })
  if (taken) return taken
  throw new ServiceError('conflict', 'AnyRouter sign-in expired or started by another user; start again')
}

const whyNot = (env: Environment, { identity }: Call): ServiceError | undefined => {
  if (identity.kind !== 'user') return new ServiceError('forbidden', 'sign in here before signing in with AnyRouter')
  if (sealKey(env) === undefined)
    return new ServiceError(
      'not-implemented',
      'saving keys is unavailable: SVC_USER_CONNECTIONS_ENCRYPTION_KEY is not set',
    )
  return undefined
}

const requirePossible = (env: Environment, call: Call): RotatingKey => {
  const refusal = whyNot(env, call)
  const secret = sealKey(env)
  if (refusal || secret === undefined) throw refusal
  return secret
}

const about = ({ identity }: Call): string => `key of gateway C for ${identity.subject}`
const beginningName = (state: string): string => `agent:sign-in:${state}`
const keyName = ({ identity }: Call): string => `agent:model-key:${hash('sha256', identity.subject, 'base64url')}`
