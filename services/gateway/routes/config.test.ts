import { expect, it } from 'vitest'
import { ConfigResponse } from '#proto/http/config.ts'
import { startFakeProduct } from '../testing/fake-product.ts'

it('returns the clock skew of each host, rounded to be stable between probes', async () => {
  await using product = await startFakeProduct()
  const { data } = ConfigResponse.parse(await (await fetch(`${product.url}/api/v1/config`)).json())
  expect(data.hosts.map(({ clockSkewMs }) => clockSkewMs)).toEqual([-3_600_000, 0])
})

it('returns the time zone of COLUMNDB_TZ', async () => {
  await using product = await startFakeProduct({ env: { COLUMNDB_TZ: 'Asia/Tokyo' } })
  const { data } = ConfigResponse.parse(await (await fetch(`${product.url}/api/v1/config`)).json())
  expect(data.displayZone).toBe('Asia/Tokyo')
})
