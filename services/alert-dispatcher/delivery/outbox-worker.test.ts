import { expect, it } from 'vitest'
import { ServiceError } from '#proto/errors.ts'
import { openStore } from '#shared/store/open.ts'
import { openPlace } from './testing/place.ts'

it('says once that the outbox is away, however often it looks, and once that it is back', async () => {
  await using store = await openStore({ env: {}, busIsShared: false })
  let look = () => {}
  let looks = 0
  let isAway = true
  const outbox = {
    ...store.outbox,
    claim: async () => {
      looks += 1
      if (isAway) throw new ServiceError('unavailable', 'the state store does not answer')
      return []
    },
    onAppend: (listener: () => void) => {
      look = listener
      return { [Symbol.dispose]: () => {} }
    },
  }
  await using place = await openPlace({ store: { ...store, outbox }, channels: [] })
  const looked = () => {
    look()
    return looks
  }
  await expect.poll(looked).toBeGreaterThanOrEqual(5)
  isAway = false
  await expect.poll(looked).toBeGreaterThanOrEqual(looks + 5)
  const said = await place.said()
  expect(said.match(/outbox cannot be read|outbox is read again/g)).toEqual([
    'outbox cannot be read',
    'outbox is read again',
  ])
})
