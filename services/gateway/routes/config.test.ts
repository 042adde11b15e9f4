import { expect, it } from 'vitest'
import { ConfigResponse } from '#proto/http/config.ts'
import { startFake } from '../testing/fake-product.ts'

it('returns the clock skew of each host, rounded to be stable between probes', async () => {
  await using product = await startFake()
  const { data } = ConfigResponse.parse(await (await fetch(`${product.url}/api/v1/config`)).json())
  expect(data.hosts.map(({ clockSkewMs }) => clockSkewMs)).toEqual([-3_600_000, 0])
})

it('returns the time zone of COLUMNDB_TZ', async () => {
  await using product = await startFake({ env: { COLUMNDB_TZ: 'Asia/Tokyo' } })
  const { data } = ConfigResponse.parse(await (await fetch(`${product.url}/api/v1/config`)).json())
  expect(data.displayZone).toBe('Asia/Tokyo')
})
