// @module-tag long
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startStrictServer, type StrictServer } from '../alert-dispatcher/channels/testing/strict-server.ts'
import type { Client } from '../client/client.ts'
import { fetchJson, retryUntil } from '../testing/fetch-json.ts'
import { createProductClient, type Product, startProduct } from '../testing/product.ts'

const cronSecret = 'the secret of the scheduler'
const encryptionKey = 'the key of the operator, thirty-two'
const startLimitMs = 120_000

const startReceiver = (): Promise<StrictServer> =>
  startStrictServer({ problem: () => undefined, answer: { status: 200, body: 'ok' } })

describe('a saved channel that overrides its variable', () => {
  let directory: string
  let opened: AsyncDisposableStack
  let product: Product
  let client: Client
  let ofVariable: StrictServer
  let saved: StrictServer

  beforeAll(async () => {
    opened = new AsyncDisposableStack()
    directory = await mkdtemp(join(tmpdir(), 'watchhouse-saved-channels-'))
    opened.defer(() => rm(directory, { recursive: true }))
    ofVariable = opened.use(await startReceiver())
    saved = opened.use(await startReceiver())
    product = opened.use(
      await startProduct({
        // An unreachable host is a critical condition, so the first sweep sends a notification.
        hosts: [{ url: 'http://127.0.0.1:9', name: 'down' }],
        env: {
          CRON_SECRET: cronSecret,
          HEALTH_ALERT_WEBHOOK_URL: `${ofVariable.url}/of-the-variable`,
          SVC_ALLOW_PRIVATE_HOSTS: 'true',
          SVC_HEALTH_SWEEP_INTERVAL_MINUTES: '0',
          SVC_STATE_DB_URL: `file:${join(directory, 'state.db')}`,
          SVC_USER_CONNECTIONS_ENCRYPTION_KEY: encryptionKey,
        },
      }),
    )
    client = createProductClient(product)
  }, startLimitMs)
  afterAll(() => opened?.disposeAsync())

  const headers = { authorization: `Bearer ${cronSecret}` }
  const sweep = () => client.call('GET /api/cron/health-sweep', { query: {}, headers })
  const path = { channel: 'webhook' }
  const save = (settings: Record<string, string | null>) =>
    client.call('PUT /api/v1/health/alert-config/channels/{channel}', { path, body: { settings } })
  const test = () => client.call('POST /api/v1/health/channels/{channel}/test', { path, body: {} })
  const pathsOf = ({ taken }: StrictServer) => taken.map(({ path }) => path)

  it(
    'is used at once and after a restart, and what it replaced comes back when it is deleted',
    async () => {
      expect(await save({ url: `${saved.url}/saved` })).toMatchObject({ success: true })
      expect(await test()).toMatchObject({ success: true })
      expect(await sweep()).toMatchObject({ success: true })
      expect(pathsOf(ofVariable)).toEqual([])
      expect(new Set(pathsOf(saved))).toEqual(new Set(['/saved']))
      const before = saved.taken.length
      await product.gateway.restart()
      expect(await sweep()).toMatchObject({ success: true })
      expect(await test()).toMatchObject({ success: true })
      expect(saved.taken.length).toBeGreaterThan(before)
      expect(pathsOf(ofVariable)).toEqual([])
      expect(await save({ url: null })).toMatchObject({ success: true })
      expect(await test()).toMatchObject({ success: true })
      expect(pathsOf(ofVariable)).toEqual(['/of-the-variable'])
    },
    startLimitMs,
  )

  /** Writes an entry directly to the database, to simulate another release, damaged data or another encryption key. */
  const write = (channel: string, body: string): void => {
    using database = new DatabaseSync(join(directory, 'state.db'))
    const document = `{"kind":"channel","id":"${channel}","body":${body},"changedAtMs":${Date.now()}}`
    database
      .prepare(
        "INSERT OR REPLACE INTO watchhouse_alert_policy (id, kind, version, document) VALUES (?, 'channel', 'w', ?)",
      )
      .run(`channel ${channel}`, document)
  }
  const problems = async (): Promise<Record<string, string | null>> => {
    const { channels } = (await client.call('GET /api/v1/health/alert-config')).data
    return Object.fromEntries(channels.map(({ channel, problem }) => [channel, problem]))
  }

  it(
    'stops neither sweeps nor the start when it cannot be read, and is named',
    async () => {
      write(
        'chat-a',
        JSON.stringify({ variables: { HEALTH_ALERT_CHAT_A_BOT_TOKEN: 'no token', HEALTH_ALERT_CHAT_A_CHAT_ID: '5' } }),
      )
      write('paging-a', JSON.stringify({ sealed: { HEALTH_ALERT_PAGING_A_ROUTING_KEY: 'of-another.key' } }))
      write('push-a', '{ "damaged')
      const broken = {
        'chat-a': expect.stringMatching(/^HEALTH_ALERT_CHAT_A_BOT_TOKEN: must be the token of a bot/),
        'paging-a': 'HEALTH_ALERT_PAGING_A_ROUTING_KEY: the saved value cannot be decrypted; save it again',
        webhook: null,
      }
      await retryUntil(problems, (found) => found['chat-a'] !== null)
      expect(await problems()).toMatchObject(broken)
      expect(await sweep()).toMatchObject({ success: true })
      await product.gateway.restart()
      expect(await sweep()).toMatchObject({ success: true })
      expect(await problems()).toMatchObject(broken)
      for (const channel of ['chat-a', 'paging-a'])
        expect(product.output()).toMatch(
          new RegExp(`"channel":"${channel}","reason":"[^"]+","msg":"channel unavailable"`),
        )
      expect(product.output()).toContain('"entry":"channel push-a"')
      expect(product.output()).not.toContain('no token')
      expect(await test()).toMatchObject({ success: true })
    },
    startLimitMs,
  )

  it('exports the time of the last successful sweep, and the sweep interval', async () => {
    const metric = async (name: string): Promise<number> => {
      const { text } = await fetchJson(`${product.operationsUrls[0]}/metrics`)
      return Number(new RegExp(`^${name} (\\S+)$`, 'm').exec(text)?.[1])
    }
    expect(await metric('watchhouse_alert_sweep_interval_seconds')).toBe(300)
    const beforeMs = Date.now()
    expect(await sweep()).toMatchObject({ success: true })
    const seconds = await metric('watchhouse_alert_sweep_succeeded_timestamp_seconds')
    expect(seconds * 1_000).toBeGreaterThanOrEqual(beforeMs)
    expect(seconds * 1_000).toBeLessThanOrEqual(Date.now())
  })
})
