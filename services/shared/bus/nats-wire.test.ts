import { expect, it } from 'vitest'
import { describeWith, startNats } from '../../testing/describe-with.ts'
import { openNatsHub } from './open.ts'

const endpoint = { caller: 'query', instance: 'q1' } as const

it('reports which server it cannot reach, without the password', async () => {
  const hub = openNatsHub({ url: 'nats://me:swordfish@127.0.0.1:1' })
  const error: unknown = await hub.connect(endpoint).catch((thrown: unknown) => thrown)
  expect(String(error)).toContain('cannot connect to NATS at 127.0.0.1:1')
  expect(String(error)).not.toContain('swordfish')
})

describeWith(['nats'], 'a NATS server', () => {
  it('rejects a server whose maximum payload is too small', async () => {
    await using server = await startNats({ config: 'max_payload: 512KB' })
    await expect(openNatsHub({ url: server.url }).connect(endpoint)).rejects.toThrow('max_payload must be at least')
  })

  it('connects to any of several addresses', async () => {
    await using server = await startNats({ private: true })
    await using wire = await openNatsHub({ url: `nats://127.0.0.1:1, ${server.url}` }).connect(endpoint)
    expect(wire.connected).toBe(true)
  })
})
