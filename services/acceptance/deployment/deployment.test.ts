// @module-tag long
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { connect } from 'nats'
import { afterAll, beforeAll, expect, it, vi } from 'vitest'
import { ConnectionSessionResponse } from '#proto/http/connections.ts'
import { serviceNames } from '#proto/call.ts'
import { testCertificate } from '../../alert-dispatcher/channels/testing/certificate.ts'
import type { Sandbox } from '../../sandbox/start.ts'
import { fetchJson, retryUntil } from '../../testing/fetch-json.ts'
import { describeWith } from '../../testing/describe-with.ts'
import { root } from '../../testing/source-file.ts'
import {
  cronSecret,
  type DeployedProduct,
  deployChart,
  formatNatsAddress,
  createUserPassword,
} from '../../testing/chart/deployment.ts'
import { scalingConsumers } from '../../generate/chart/files.ts'
import { startLoad } from '../../testing/chart/load.ts'
import { runChartScript } from '../../testing/chart/script.ts'
import { startSeededHost } from '../../testing/seeded-hosts.ts'

vi.setConfig({ testTimeout: 600_000, hookTimeout: 600_000 })

const ingestToken = 'token of the senders'
const sender = { authorization: `Bearer ${ingestToken}` }
const listDatabases = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'list_databases', arguments: {} } }
const posted = (body: object, headers: Record<string, string> = {}): RequestInit => ({
  method: 'POST',
  headers: { 'content-type': 'application/json', ...headers },
  body: JSON.stringify(body),
})

describeWith(['nats', 'redis', 'postgres', 'helm'], 'the processes that the chart renders', () => {
  let sandbox: Sandbox
  let deployed: DeployedProduct
  const url = () => deployed.gateway()
  const overview = (gateway = url()) => fetchJson(`${gateway}/api/v1/overview?hostId=0`)

  beforeAll(async () => {
    sandbox = await startSeededHost('one')
    const often = '1000000'
    const variables = {
      SVC_MCP_PUBLIC: 'true',
      RATE_LIMIT_API_PER_MIN: often,
      RATE_LIMIT_MCP_PER_MIN: often,
      RATE_LIMIT_INGEST_PER_MIN: often,
      SVC_ALLOW_PRIVATE_HOSTS: 'true',
      SVC_EVENTS_INGEST_TOKEN: ingestToken,
    }
    deployed = await deployChart({ hosts: [{ url: sandbox.url, name: 'one' }], variables }, 'last')
  })
  afterAll(async () => {
    await deployed?.[Symbol.asyncDispose]()
    await sandbox?.[Symbol.asyncDispose]()
  })

  /** Opens a user connection and returns its request headers. */
  const openUserConnection = async (): Promise<Record<string, string>> => {
    const body = { url: sandbox.url, user: 'default', password: '' }
    const opened = await fetchJson(`${url()}/api/v1/browser-connections/sessions`, posted(body))
    const { token, header } = ConnectionSessionResponse.parse(opened.body).data
    return { [header]: token }
  }

  it('are the seven services and a guest query process', () => {
    expect([...deployed.processes.keys()].toSorted()).toEqual([...serviceNames, 'query-guest'].toSorted())
  })

  it('are updated from the last release one after another without failed requests', async () => {
    const components = [...deployed.processes.keys()]
    const load = startLoad(url, {
      query: { path: '/api/v1/tables/settings?hostId=0&limit=5', has: '"data":[{' },
      'query-guest': {
        path: '/api/v1/charts/top-table-size',
        init: { headers: await openUserConnection() },
        has: '"data":[{',
      },
      agent: { path: '/api/v1/agent/skills', has: '"data":[{' },
      mcp: { path: '/api/mcp', init: posted(listDatabases), has: 'INFORMATION_SCHEMA' },
      'alert-dispatcher': { path: '/api/v1/health/alert-state', has: '"data":' },
      ingest: { path: '/api/events/ingest', init: posted({ title: 'again' }, sender), has: '"data":' },
      report: { path: '/api/v1/insights?hostId=0', has: '"data":' },
    })
    for (const name of components) await deployed.roll(name)
    await load.stop()
    const each = components.filter((name) => name !== 'gateway')
    expect([...load.answered.keys()].toSorted()).toEqual(each.map((name) => `${name}: answered`).toSorted())
    expect(Math.min(...load.answered.values())).toBeGreaterThan(10)
  })

  it('pass `helm test`', async () => {
    expect(await runChartScript('smoke.ts', { GATEWAY_URL: url(), HOST_ID: '0' })).toMatch(
      /healthz\n.*openapi.*\n.*charts.*\n.*mcp/,
    )
  })

  it.each(['health-sweep', 'retention-prune'])('accept requests of the CronJob %s', async (path) => {
    const variables = { CRON_URL: `${url()}/api/cron/${path}`, CRON_SECRET: cronSecret }
    expect(await runChartScript('call-cron.ts', variables)).toMatch(/^200 /)
    await expect(runChartScript('call-cron.ts', { ...variables, CRON_SECRET: 'another' })).rejects.toThrow()
  })

  it('connect to a database through a user connection', async () => {
    const chart = await fetchJson(`${url()}/api/v1/charts/top-table-size`, { headers: await openUserConnection() })
    expect(chart.status, chart.text).toBe(200)
  })

  it('have all the NATS permissions that they need', () => {
    expect(deployed.output()).not.toMatch(/NATS server error|PERMISSIONS_VIOLATION/)
  })

  it('cannot impersonate or eavesdrop on each other', async () => {
    const server = { servers: formatNatsAddress(deployed.nats), tls: { ca: testCertificate.cert } }
    const violations: string[] = []
    const connection = await connect({ ...server, user: 'report', pass: createUserPassword('report') })
    void (async () => {
      for await (const { data } of connection.status()) violations.push(String(data))
    })()
    connection.publish('svc.query.gateway.hosts', '{}', { reply: '_INBOX.report.x.1' })
    connection.subscribe('_INBOX.gateway.>', { callback: () => {} })
    connection.subscribe('svc.query.>', { callback: () => {} })
    await retryUntil(
      async () => violations.length,
      (count) => count >= 3,
    )
    await connection.close()
    await expect(connect({ ...server, user: 'query', pass: 'a guess' })).rejects.toThrow(/authorization/i)
  })

  it('export every metric that dashboards and alerts query', async () => {
    await overview()
    const scraped = await Promise.all(
      [...deployed.processes.values()].map(({ operationsUrl }) => fetchJson(`${operationsUrl}/metrics`)),
    )
    const exported = new Set(
      scraped.flatMap(({ text }) => [...text.matchAll(/^# TYPE (\w+)/gm)].map(([, name = '']) => name)),
    )
    const files = ['files/alerts.yaml', 'dashboards/health.json', 'dashboards/fleet.json', 'dashboards/alerts.json']
    const texts = await Promise.all(files.map((file) => readFile(join(root, 'helm', file), 'utf8')))
    const queried = new Set(texts.join('\n').match(/(?<!")\bwatchhouse_\w+/g))
    expect(queried.size).toBeGreaterThan(20)
    const missing = [...queried].filter(
      (name) => !exported.has(name) && !exported.has(name.replace(/_(bucket|count|sum)$/, '')),
    )
    // The test configures neither a trace collector nor a history engine, so the product exports no figures of these.
    expect(missing.toSorted()).toEqual([
      'watchhouse_history_behind_seconds',
      'watchhouse_history_rows_total',
      'watchhouse_trace_spans_total',
    ])
  })

  it('read messages with the consumers that they are scaled on', async () => {
    const takenBy = async (name: string) => {
      const { text } = await fetchJson(`${deployed.processes.get(name)?.operationsUrl}/metrics`)
      return [...text.matchAll(/^watchhouse_queue_messages\{consumer="([^"]+)"/gm)].map(([, consumer = '']) => consumer)
    }
    for (const [name, stated] of Object.entries(scalingConsumers)) {
      expect((await takenBy(name)).toSorted()).toEqual(stated.map(({ consumer }) => consumer).toSorted())
    }
  })
})
