import { clockOf } from '#shared/time/clock.ts'
import { expect, it } from 'vitest'
import { ServiceError } from '#proto/errors.ts'
import type { Host } from '#proto/host.ts'
import { openKnownHosts } from './known-hosts.ts'

const host: Host = { id: 0, key: 'a', name: 'a', host: 'a:8123', group: null, tags: [] }

const opened = (answers: (readonly Host[] | Error)[]) => {
  const clock = clockOf(() => nowMs)
  let nowMs = 1_000
  let asked = 0
  const client = {
    hosts: async () => {
      asked++
      const answer = answers.shift() ?? []
      if (answer instanceof Error) throw answer
      return [...answer]
    },
  }
  const known = openKnownHosts(client, clock, { kind: 'service', subject: 'mcp', features: 'all' })
  return { known, asked: () => asked, pass: (ms: number) => (nowMs += ms) }
}

it('asks once for all who want to know at the same time, and again when two seconds have passed', async () => {
  const { known, asked, pass } = opened([[host], []])
  expect(known.lastKnown()).toEqual([])
  expect(await Promise.all([known.all(), known.all()])).toEqual([[host], [host]])
  pass(1_999)
  expect([await known.all(), asked()]).toEqual([[host], 1])
  pass(1)
  expect([await known.all(), asked()]).toEqual([[], 2])
})

it('remembers no failure', async () => {
  const { known } = opened([new ServiceError('unavailable', 'nobody there'), [host]])
  await expect(known.all()).rejects.toThrow('nobody there')
  expect(await known.all()).toEqual([host])
  expect(known.lastKnown()).toEqual([host])
})
