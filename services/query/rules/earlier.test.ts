import { expect, it } from 'vitest'
import { ServiceError } from '#proto/errors.ts'
import { openStore } from '#shared/store/open.ts'
import type { Store } from '#shared/store/store.ts'
import { saveEarlier, readEarlier } from './earlier.ts'

it('stores state by host and keeps fields that do not change', async () => {
  await using store = await openStore({ env: {}, busIsShared: false })
  expect(await readEarlier(store, 'a')).toMatchObject({ unanswered: 0, startsMs: [], disks: {}, version: null })
  await saveEarlier(store, 'a', { unanswered: 3 })
  await saveEarlier(store, 'a', { version: '25.8' })
  await saveEarlier(store, 'a', {})
  expect(await readEarlier(store, 'a')).toMatchObject({ unanswered: 3, version: '25.8' })
  expect(await readEarlier(store, 'b')).toMatchObject({ unanswered: 0, version: null })
})

it('ignores an unavailable store', async () => {
  const away = (): never => {
    throw new ServiceError('unavailable', 'the store does not respond')
  }
  const store: Pick<Store, 'get' | 'update'> = { get: away, update: away }
  expect(await readEarlier(store, 'a')).toBeUndefined()
  await expect(saveEarlier(store, 'a', { unanswered: 1 })).resolves.toBeUndefined()
})
