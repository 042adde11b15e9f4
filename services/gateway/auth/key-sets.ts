import type { JWTVerifyGetKey } from 'jose'
import type { Logger } from 'pino'
import { z } from 'zod'
import type { Clock } from '#shared/clock.ts'
import { openKeySet } from './key-set.ts'
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
