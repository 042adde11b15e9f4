import { expect, it } from 'vitest'
import { ConfigAnswer } from '#proto/http/config.ts'
import { startFake } from '../testing/start.ts'

it('tells how far the clock of each host is off, as coarsely as it takes to say the same after the next probe', async () => {
  await using product = await startFake()
  const { data } = ConfigAnswer.parse(await (await fetch(`${product.url}/api/v1/config`)).json())
  expect(data.hosts.map(({ clockSkewMs }) => clockSkewMs)).toEqual([-3_600_000, 0])
})

it('names the zone of COLUMNDB_TZ, in which the web shows instants', async () => {
  await using product = await startFake({ env: { COLUMNDB_TZ: 'Asia/Tokyo' } })
  const { data } = ConfigAnswer.parse(await (await fetch(`${product.url}/api/v1/config`)).json())
  expect(data.displayZone).toBe('Asia/Tokyo')
})
