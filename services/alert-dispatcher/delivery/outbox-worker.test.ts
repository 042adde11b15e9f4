import { expect, it } from 'vitest'
import { ServiceError } from '#proto/errors.ts'
import { openStore } from '#shared/store/open.ts'
import { openDeliveryFixture } from './testing/fixture.ts'

it('logs one failure and one recovery of the outbox', async () => {
  await using store = await openStore({ env: {}, busIsShared: false })
  let poll = () => {}
  let polls = 0
  let isAway = true
  const outbox = {
    ...store.outbox,
    claim: async () => {
      polls += 1
      if (isAway) throw new ServiceError('unavailable', 'the state store does not answer')
      return []
    },
    onAppend: (listener: () => void) => {
      poll = listener
      return { [Symbol.dispose]: () => {} }
    },
  }
  await using fixture = await openDeliveryFixture({ store: { ...store, outbox }, channels: [] })
  const pollOnce = () => {
    poll()
    return polls
  }
  await expect.poll(pollOnce).toBeGreaterThanOrEqual(5)
  isAway = false
  await expect.poll(pollOnce).toBeGreaterThanOrEqual(polls + 5)
  const output = await fixture.output()
  expect(output.match(/reading outbox failed|reading outbox recovered/g)).toEqual([
    'reading outbox failed',
    'reading outbox recovered',
  ])
})
