import { type JWTVerifyGetKey, createLocalJWKSet, errors, type JSONWebKeySet } from 'jose'
import type { Logger } from 'pino'
import { z } from 'zod'
import { ServiceError } from '#proto/errors.ts'
import type { Clock } from '#shared/time/clock.ts'
import type { AskJson } from './outgoing.ts'

/** More addresses than an operator ever names between two starts. */
const maxSets = 8

/** What JWKS wants of itself (RFC 7517); jose looks at the rest of each key. */
const KeySet = z.object({ keys: z.array(z.looseObject({ kty: z.string() })).max(100) })

/** Published keys by the address they are published at. */
export interface KeySets {
  at(url: string): JWTVerifyGetKey
}

interface KeySetsOptions {
  ask: AskJson
  clock: Clock
  log: Logger
}

export const openKeySets = ({ ask, clock, log }: KeySetsOptions): KeySets => {
  const sets = new Map<string, JWTVerifyGetKey>()
  const load = async (url: string) => {
    const { status, body } = await ask(url)
    if (status !== 200) throw new Error(`the answer has status ${status}`)
    return KeySet.parse(body)
  }
  return {
    at: (url) => {
      const known = sets.get(url)
      if (known !== undefined) return known
      const opened = openKeySet({ load: () => load(url), clock, log })
      if (sets.size >= maxSets) sets.clear()
      sets.set(url, opened)
      return opened
    },
  }
}

/** How long keys are used before they are asked for again: a key that was withdrawn is believed no longer. */
const freshMs = 10 * 60_000
/** How long they are used when whoever publishes them does not answer: his outage must not sign everybody out. */
const usableMs = 24 * 60 * 60_000
/** Between two requests for keys, whatever key ids callers make up. */
const pauseMs = 10_000

interface KeySetOptions {
  load(): Promise<JSONWebKeySet>
  clock: Clock
  log: Logger
}

interface Known {
  keyOf: JWTVerifyGetKey
  loadedAtMs: number
}

/** Published keys (JWKS), kept, and asked for anew when a token names one that is not known: that is how keys rotate. */
export const openKeySet = ({ load, clock, log }: KeySetOptions): JWTVerifyGetKey => {
  let known: Known | undefined
  let askedAtMs = Number.NEGATIVE_INFINITY
  let asking: Promise<void> | undefined

  const ask = async (): Promise<void> => {
    try {
      known = { keyOf: createLocalJWKSet(await load()), loadedAtMs: clock.elapsedMs() }
    } catch (error) {
      log.warn({ err: error }, 'fetching token signing keys failed')
    } finally {
      askedAtMs = clock.elapsedMs()
    }
  }
  const refresh = async (): Promise<void> => {
    if (clock.elapsedMs() - askedAtMs < pauseMs) return
    asking ??= ask().finally(() => {
      asking = undefined
    })
    await asking
  }

  const current = async (): Promise<JWTVerifyGetKey> => {
    if (known === undefined || clock.elapsedMs() - known.loadedAtMs >= freshMs) await refresh()
    if (known === undefined || clock.elapsedMs() - known.loadedAtMs >= usableMs) {
      throw new ServiceError('unavailable', 'cannot verify the sign-in: the signing keys are unavailable; try again', {
        retryAfterMs: pauseMs,
      })
    }
    return known.keyOf
  }

  return async (header, token) => {
    const keyOf = await current()
    try {
      return await keyOf(header, token)
    } catch (error) {
      if (!(error instanceof errors.JWKSNoMatchingKey)) throw error
      await refresh()
      return (await current())(header, token)
    }
  }
}
