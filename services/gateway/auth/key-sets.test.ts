import { createClock } from '#shared/time/clock.ts'
import { type JSONWebKeySet, jwtVerify } from 'jose'
import { pino } from 'pino'
import { beforeEach, describe, expect, it } from 'vitest'
import { openSigningKeys, type SigningKeys } from '../testing/signing-keys.ts'
import { openKeySet } from './key-sets.ts'

const minuteMs = 60_000

let keys: SigningKeys
let nowMs: number
let loads: number
let published: () => Promise<JSONWebKeySet>
beforeEach(async () => {
  keys = await openSigningKeys()
  nowMs = 1_000_000
  loads = 0
  published = async () => keys.published()
})

const open = () =>
  openKeySet({
    load: () => {
      loads++
      return published()
    },
    clock: createClock(() => nowMs),
    log: pino({ level: 'silent' }),
  })

const verified = async (keySet: ReturnType<typeof openKeySet>, token: string): Promise<string> =>
  jwtVerify(token, keySet).then(
    () => 'good',
    (error: unknown) => (error instanceof Error && 'code' in error ? String(error.code) : String(error)),
  )
const outage = async (): Promise<never> => {
  throw new Error('no answer')
}
const token = async () => keys.sign({ sub: 'ada' })

describe('published keys', () => {
  it('are fetched once for concurrent requests, and then cached', async () => {
    const keySet = open()
    const one = await token()
    await Promise.all(Array.from({ length: 20 }, () => verified(keySet, one)))
    nowMs += 9 * minuteMs
    expect(await verified(keySet, one)).toBe('good')
    expect(loads).toBe(1)
  })

  it('are fetched again when a token names an unknown key', async () => {
    const keySet = open()
    const old = await token()
    await verified(keySet, old)
    await keys.rotate()
    nowMs += 10_000
    expect(await verified(keySet, await token())).toBe('good')
    expect(await verified(keySet, old)).toBe('good')
    expect(loads).toBe(2)
  })

  it('are not fetched for every made-up key id', async () => {
    const keySet = open()
    await verified(keySet, await token())
    for (let index = 0; index < 50; index++) {
      const made = await keys.sign({ sub: 'ada' }, { kid: `made-up-${index}` })
      expect(await verified(keySet, made)).toBe('ERR_JWKS_NO_MATCHING_KEY')
      nowMs += 1_000
    }
    expect(loads).toBe(5)
  })

  it('are trusted for at most ten minutes after they were withdrawn', async () => {
    const keySet = open()
    const old = await token()
    await verified(keySet, old)
    await keys.rotate()
    await keys.rotate()
    nowMs += 10 * minuteMs
    expect(await verified(keySet, old)).toBe('ERR_JWKS_NO_MATCHING_KEY')
  })

  it('are used for a day without a response, and fetched again meanwhile', async () => {
    const keySet = open()
    const one = await token()
    await verified(keySet, one)
    published = outage
    nowMs += 23 * 60 * minuteMs
    expect(await verified(keySet, one)).toBe('good')
    expect(loads).toBe(2)
    nowMs += 60 * minuteMs
    expect(await verified(keySet, one)).toBe('unavailable')
    published = async () => keys.published()
    nowMs += 10_000
    expect(await verified(keySet, one)).toBe('good')
  })

  it('make the sign-in unavailable if they were never fetched', async () => {
    const keySet = open()
    published = outage
    expect(await verified(keySet, await token())).toBe('unavailable')
    expect(await verified(keySet, await token())).toBe('unavailable')
    expect(loads).toBe(1)
  })
})
