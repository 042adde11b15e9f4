import { createClock } from '#shared/time/clock.ts'
import { expect, it } from 'vitest'
import { ServiceError } from '#proto/errors.ts'
import type { Host } from '#proto/host.ts'
import { createHostCache } from './known-hosts.ts'

const host: Host = { id: 0, key: 'a', name: 'a', host: 'a:8123', group: null, tags: [] }

const opened = (answers: (readonly Host[] | Error)[]) => {
  const clock = createClock(() => nowMs)
  let nowMs = 1_000
  let calls = 0
  const client = {
    hosts: async () => {
      calls++
      const answer = answers.shift() ?? []
      if (answer instanceof Error) throw answer
      return [...answer]
    },
  }
  const known = createHostCache(client, clock, { kind: 'service', subject: 'mcp', features: 'all' })
  return { known, calls: () => calls, pass: (ms: number) => (nowMs += ms) }
}

it('requests the list once for concurrent callers, and again after two seconds', async () => {
  const { known, calls, pass } = opened([[host], []])
  expect(known.lastKnown()).toEqual([])
  expect(await Promise.all([known.all(), known.all()])).toEqual([[host], [host]])
  pass(1_999)
  expect([await known.all(), calls()]).toEqual([[host], 1])
  pass(1)
  expect([await known.all(), calls()]).toEqual([[], 2])
})

it('does not cache a failure', async () => {
  const { known } = opened([new ServiceError('unavailable', 'not reachable'), [host]])
  await expect(known.all()).rejects.toThrow('not reachable')
  expect(await known.all()).toEqual([host])
  expect(known.lastKnown()).toEqual([host])
})
