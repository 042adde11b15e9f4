import { existsSync } from 'node:fs'
import { Redis } from 'ioredis'
import { connect } from 'nats'
import { Client } from 'pg'
import { expect, it } from 'vitest'
import { describeWith, startNats, startPostgres, startRedis } from './describe-with.ts'

describeWith(['nats'], 'a NATS server for a test', () => {
  it('retains its streams and address after a kill and restart', async () => {
    await using server = await startNats({ private: true })
    const before = await connect({ servers: server.url })
    const manager = await before.jetstreamManager()
    await manager.streams.add({ name: 'KEPT', subjects: ['kept.>'] })
    await before.close()
    await server.kill()
    await expect(connect({ servers: server.url, timeout: 500 })).rejects.toThrow()
    await server.restart()
    const after = await connect({ servers: server.url })
    const info = await (await after.jetstreamManager()).streams.info('KEPT')
    expect(info.config.subjects).toEqual(['kept.>'])
    await after.close()
  })

  it('applies a configuration with users', async () => {
    await using server = await startNats({ config: 'authorization { users: [{ user: one, password: two }] }' })
    await expect(connect({ servers: server.url })).rejects.toThrow(/Authorization/)
    const allowed = await connect({ servers: server.url, user: 'one', pass: 'two' })
    await allowed.close()
  })
})

describeWith(['redis'], 'a Redis server for a test', () => {
  it('retains acknowledged writes after a kill and restart', async () => {
    await using server = await startRedis({ private: true })
    const client = new Redis(server.url)
    await client.set('kept', 'yes')
    client.disconnect()
    await server.kill()
    await server.restart()
    const again = new Redis(server.url)
    expect(await again.get('kept')).toBe('yes')
    again.disconnect()
  })
})

describeWith(['postgres'], 'a PostgreSQL server for a test', () => {
  it('retains committed rows after a kill, and removes its files when stopped', { tags: ['long'] }, async () => {
    const server = await startPostgres({ private: true })
    await query(server.url, 'CREATE TABLE kept AS SELECT 1 AS one')
    await server.kill()
    await server.restart()
    expect(await query(server.url, 'SELECT one FROM kept')).toEqual([{ one: 1 }])
    const [directory] = await query(server.url, 'SHOW data_directory')
    await server.stop()
    expect(existsSync(String(directory?.data_directory))).toBe(false)
  })

  it('creates a separate database for every caller', { tags: ['long'] }, async () => {
    await using one = await startPostgres()
    await using two = await startPostgres()
    await query(one.url, 'CREATE TABLE mine (a int)')
    expect(await query(two.url, "SELECT 1 FROM pg_tables WHERE tablename = 'mine'")).toEqual([])
  })
})

const query = async (url: string, statement: string): Promise<Record<string, unknown>[]> => {
  const client = new Client({ connectionString: url })
  await client.connect()
  try {
    return (await client.query<Record<string, unknown>>(statement)).rows
  } finally {
    await client.end()
  }
}
