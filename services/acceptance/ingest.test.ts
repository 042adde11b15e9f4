import { createServer } from 'node:http'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { z } from 'zod'
import { EventsResponse } from '#proto/http/events.ts'
import { listenOnLoopback } from '#shared/net/testing/loopback-server.ts'
import { fetchJson, retryUntil } from '../testing/fetch-json.ts'
import { type Product, startProduct } from '../testing/product.ts'

const token = 'token of the senders'

/** Starts a webhook that records its notifications. */
const startWebhook = async () => {
  const notifications: string[] = []
  const server = createServer(async (request, response) => {
    let text = ''
    for await (const chunk of request) text += String(chunk)
    notifications.push(z.object({ text: z.string() }).parse(JSON.parse(text)).text)
    response.end('ok')
  })
  const { origin, stop } = await listenOnLoopback(server)
  return {
    url: `${origin}/hook`,
    notifications,
    [Symbol.asyncDispose]: stop,
  }
}

describe('an alert of Alertmanager', () => {
  let webhook: Awaited<ReturnType<typeof startWebhook>>
  let product: Product
  beforeAll(async () => {
    webhook = await startWebhook()
    const env = { SVC_EVENTS_INGEST_TOKEN: token, HEALTH_ALERT_WEBHOOK_URL: webhook.url }
    product = await startProduct({ hosts: [{ url: 'http://127.0.0.1:1' }], env })
  }, 90_000)
  afterAll(async () => {
    await product[Symbol.asyncDispose]()
    await webhook[Symbol.asyncDispose]()
  })

  const send = (status: 'firing' | 'resolved', endsAt: string) => {
    const labels = { alertname: 'DiskFull', severity: 'critical', instance: 'db-9' }
    const alert = {
      status,
      labels,
      annotations: { summary: 'Disk <b>full</b>' },
      startsAt: '2026-03-01T10:00:00Z',
      endsAt,
      fingerprint: 'f',
    }
    return fetchJson(`${product.url}/api/events/ingest`, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      body: JSON.stringify({ version: '4', status, receiver: 'w', alerts: [alert] }),
    })
  }

  it('is stored, found, notified and recovers', async () => {
    expect((await send('firing', '0001-01-01T00:00:00Z')).status).toBe(202)
    expect((await send('firing', '0001-01-01T00:00:00Z')).body).toMatchObject({ data: { accepted: 1, duplicates: 1 } })
    await retryUntil(
      async () => webhook.notifications.length,
      (count) => count === 1,
    )
    expect(webhook.notifications[0]).toContain('CRITICAL: Disk')
    expect(webhook.notifications[0]).toContain('(db-9), from alertmanager')
    expect((await send('resolved', '2026-03-01T11:00:00Z')).status).toBe(202)
    await retryUntil(
      async () => webhook.notifications.length,
      (count) => count === 2,
    )
    expect(webhook.notifications[1]).toContain('RECOVERED: Disk')
    const found = EventsResponse.parse((await fetchJson(`${product.url}/api/v1/events?search=disk`)).body).data
    expect(found.map(({ status }) => status)).toEqual(['resolved', 'firing'])
  })
})
