// Runs in a pod: `node alerts.ts <url of the product> <number> <per second> <token>` sends alerts of Alertmanager, each
// with its own name, and repeats those that were not accepted, as Alertmanager does. Prints the accepted names.
import { setTimeout as wait } from 'node:timers/promises'

const [url = '', count = '', perSecond = '', token = ''] = process.argv.slice(2)
const maxAttempts = 20
const retryAfterMs = 1_000
const timeoutMs = 30_000

const accepted: string[] = []
let repeated = 0

const send = async (number: number): Promise<void> => {
  const name = `Drill-${number}-of-${process.pid}`
  const alert = {
    status: 'firing',
    labels: { alertname: name, severity: 'critical', instance: `instance-${number}` },
    annotations: { summary: name },
    startsAt: new Date().toISOString(),
    endsAt: '0001-01-01T00:00:00Z',
    fingerprint: name,
  }
  const body = JSON.stringify({ version: '4', status: 'firing', receiver: 'watchhouse', alerts: [alert] })
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' }
  for (let attempt = 0; attempt < maxAttempts; attempt++) {
    const signal = AbortSignal.timeout(timeoutMs)
    const response = await fetch(`${url}/api/events/ingest`, { method: 'POST', headers, body, signal }).catch(
      () => undefined,
    )
    await response?.text().catch(() => '')
    if (response?.status === 202) return void accepted.push(name)
    repeated++
    await wait(retryAfterMs)
  }
}

const sending: Promise<void>[] = []
for (let number = 0; number < Number(count); number++) {
  sending.push(send(number))
  await wait(1_000 / Number(perSecond))
}
await Promise.all(sending)
process.stdout.write(JSON.stringify({ accepted, repeated }))
