import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { z } from 'zod'
import { type ReplicationRowSet, replicationRowSets } from '#proto/insight-rows.ts'
import { createCall, openTestService, type TestService } from '../testing/test-service.ts'
import { type SimulatedReplicationService, startReplicationService } from '../testing/replication-service.ts'

let service: SimulatedReplicationService
let parts: TestService
const env: Record<string, string> = { COLUMNDB_HOST: 'http://127.0.0.1:9,http://127.0.0.1:9', COLUMNDB_NAME: 'one,two' }
beforeAll(async () => {
  service = await startReplicationService()
  env.REPLDB_API_URL = service.url
  parts = await openTestService(env)
})
afterAll(async () => {
  await parts[Symbol.asyncDispose]()
  await service[Symbol.asyncDispose]()
})

const rows = async (set: ReplicationRowSet, hostKey = 'one', call = createCall()) => {
  const result = await parts.handlers.insightRows({ hostKey, set }, call)
  return { ...result, rows: z.array(replicationRowSets[set]).parse(result.rows) }
}

describe('replication rows for detectors', () => {
  it('contain the state of mirrors', async () => {
    const result = await rows('replication-mirrors')
    expect(result.sql).toMatch(/^-- .*mirrors\/list/)
    expect(result.rows).toHaveLength(5)
    expect(result.rows[0]).toMatchObject({
      mirror: 'billing',
      state: 'failed',
      errorsLastHour: 2,
      commonError: 'failed to push ? records for batch ?: dial tcp ?: connect: connection refused',
    })
    expect(result.rows[2]).toMatchObject({ mirror: 'events', copyingHours: expect.closeTo(2, 1) })
  })

  it('contain the lag of slots', async () => {
    const { rows: slots } = await rows('replication-slots')
    expect(slots.map((row) => Object.values(row)[0])).toEqual([
      'shop_source/peerflow_slot_billing',
      'shop_source/peerflow_slot_orders',
    ])
    expect(slots[0]).toMatchObject({ lagBytes: 2_400 * 1_048_576, growthBytesPerHour: expect.any(Number) })
  })

  it('are returned for the first host and permitted callers only', async () => {
    const stranger = createCall({ identity: { kind: 'user', subject: 'ada', features: ['INSIGHTS'] } })
    expect((await rows('replication-mirrors', 'two')).rows).toEqual([])
    expect((await rows('replication-mirrors', 'one', stranger)).rows).toEqual([])
  })

  it('are empty without a replication service', async () => {
    env.REPLDB_API_URL = ''
    expect((await rows('replication-slots')).rows).toEqual([])
    env.REPLDB_API_URL = service.url
  })
})
