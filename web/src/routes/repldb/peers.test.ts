import { expect, it } from 'vitest'
import { listPeers } from './peers.ts'

it('lists each peer once with its role, sources first', () => {
  const [shop, lake, both, idle] = [
    { name: 'shop', type: 'POSTGRES' },
    { name: 'lake', type: 'CLICKHOUSE' },
    { name: 'both', type: 'POSTGRES' },
    { name: 'idle', type: 'NEWER' },
  ]
  const peers = listPeers({
    items: [lake, shop, both, idle].flatMap((peer) => peer ?? []),
    sourceItems: [shop, both].flatMap((peer) => peer ?? []),
    destinationItems: [lake, both].flatMap((peer) => peer ?? []),
  })
  expect(peers).toEqual([
    { name: 'shop', type: 'PostgreSQL', role: 'source', hasSlots: true },
    { name: 'both', type: 'PostgreSQL', role: 'source and destination', hasSlots: true },
    { name: 'lake', type: 'ClickHouse', role: 'destination', hasSlots: false },
    { name: 'idle', type: 'NEWER', role: 'unused', hasSlots: false },
  ])
})
