import { expect, it } from 'vitest'
import { ServiceError } from '#proto/errors.ts'
import { openStore } from '#shared/store/open.ts'
import type { Store } from '#shared/store/store.ts'
import { saveSweepState, readSweepState } from './sweep-state.ts'

it('stores state by host and keeps fields that do not change', async () => {
  await using store = await openStore({ env: {}, busIsShared: false })
  expect(await readSweepState(store, 'a')).toMatchObject({ unanswered: 0, startsMs: [], disks: {}, version: null })
  await saveSweepState(store, 'a', { unanswered: 3 })
  await saveSweepState(store, 'a', { version: '25.8' })
  await saveSweepState(store, 'a', {})
  expect(await readSweepState(store, 'a')).toMatchObject({ unanswered: 3, version: '25.8' })
  expect(await readSweepState(store, 'b')).toMatchObject({ unanswered: 0, version: null })
})

it('ignores an unavailable store', async () => {
  const away = (): never => {
    throw new ServiceError('unavailable', 'the store does not respond')
  }
  const store: Pick<Store, 'get' | 'update'> = { get: away, update: away }
  expect(await readSweepState(store, 'a')).toBeUndefined()
  await expect(saveSweepState(store, 'a', { unanswered: 1 })).resolves.toBeUndefined()
})
