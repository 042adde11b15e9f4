import { get } from 'node:http'
import { setPriority } from 'node:os'
import { setTimeout as wait } from 'node:timers/promises'

// Probes health endpoints like Kubernetes, with a new connection per probe, and prints the latency of every response.
// Run as a process: `node probe-health.ts <duration in ms> <url>…`. It raises its priority if permitted, because a real
// orchestrator does not compete for the same CPU.

/** The response to one probe; `status` is 0 if there was no response. */
export interface ProbeResult {
  url: string
  status: number
  tookMs: number
}

const everyMs = 1_000
const timeoutMs = 20_000

const main = async (lengthMs: number, urls: readonly string[]): Promise<void> => {
  try {
    setPriority(-20)
  } catch {
    // Raising the priority requires root. Without root, the probes run at normal priority.
  }
  const probed = await Promise.all(urls.map((url) => probeAgain(url, lengthMs)))
  process.stdout.write(JSON.stringify(probed.flat()))
}

const probeAgain = async (url: string, lengthMs: number): Promise<ProbeResult[]> => {
  const probed: ProbeResult[] = []
  const until = performance.now() + lengthMs
  await wait(Math.random() * everyMs)
  while (performance.now() < until) {
    const began = performance.now()
    const status = await statusOf(url)
    const tookMs = performance.now() - began
    probed.push({ url, status, tookMs })
    await wait(Math.max(0, everyMs - tookMs))
  }
  return probed
}

/** Returns the status of a response; 0 if there is none. */
const statusOf = (url: string): Promise<number> =>
  new Promise((resolve) => {
    const request = get(url, { agent: false, timeout: timeoutMs }, (response) => {
      response.resume().once('end', () => resolve(response.statusCode ?? 0))
    })
    request.once('timeout', () => request.destroy())
    request.once('error', () => resolve(0))
  })

const [length, ...urls] = process.argv.slice(2)
await main(Number(length), urls)
