import type { JWTVerifyGetKey, JSONWebKeySet } from 'jose'
import type { Logger } from 'pino'
import { z } from 'zod'
import { ServiceError } from '#proto/errors.ts'
import type { Clock } from '#shared/time/clock.ts'
import type { FetchJson } from './fetch-json.ts'

/** Maximum number of cached key sets, more than an operator configures while a process runs. */
const maxSets = 8

/** A JWKS (RFC 7517); `jose` validates the other fields of each key. */
const KeySet = z.object({ keys: z.array(z.looseObject({ kty: z.string() })).max(100) })

/** Published key sets (JWKS) by URL. */
export interface KeySets {
  at(url: string): JWTVerifyGetKey
}

interface KeySetsOptions {
  fetchJson: FetchJson
  clock: Clock
  log: Logger
}

export const openKeySets = ({ fetchJson, clock, log }: KeySetsOptions): KeySets => {
  const sets = new Map<string, JWTVerifyGetKey>()
  const load = async (url: string) => {
    const { status, body } = await fetchJson(url)
    if (status !== 200) throw new Error(`request for signing keys failed: status ${status}`)
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

/** Keys are fetched again after this time, so that a revoked key is no longer trusted. */
const freshMs = 10 * 60_000
/** Keys are used this long while the provider does not respond, so that an outage signs no users out. */
const usableMs = 24 * 60 * 60_000
/** Minimum time between two fetches, so that unknown key ids cannot cause many requests. */
const pauseMs = 10_000

interface KeySetOptions {
  load(): Promise<JSONWebKeySet>
  clock: Clock
  log: Logger
}

interface CachedKeySet {
  keyOf: JWTVerifyGetKey
  loadedAtMs: number
}

/** Caches published keys (JWKS) and fetches them again when a token names an unknown key, because keys rotate. */
export const openKeySet = ({ load, clock, log }: KeySetOptions): JWTVerifyGetKey => {
  let known: CachedKeySet | undefined
  let fetchedAtMs = Number.NEGATIVE_INFINITY
  let fetching: Promise<void> | undefined

  const fetchKeys = async (): Promise<void> => {
    try {
      const { createLocalJWKSet } = await import('jose')
      known = { keyOf: createLocalJWKSet(await load()), loadedAtMs: clock.elapsedMs() }
    } catch (error) {
      log.warn({ err: error }, 'fetching token signing keys failed')
    } finally {
      fetchedAtMs = clock.elapsedMs()
    }
  }
  const refresh = async (): Promise<void> => {
    if (clock.elapsedMs() - fetchedAtMs < pauseMs) return
    fetching ??= fetchKeys().finally(() => {
      fetching = undefined
    })
    await fetching
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
    const { errors } = await import('jose')
    try {
      return await keyOf(header, token)
    } catch (error) {
      if (!(error instanceof errors.JWKSNoMatchingKey)) throw error
      await refresh()
      return (await current())(header, token)
    }
  }
}
