import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { z } from 'zod'
import type { Cluster } from './cluster.ts'
import { productUrl, senderToken } from './release.ts'
import { surroundingsNamespace, testerName } from './surroundings.ts'

/** Requests in a second, on all paths together. */
export const requestsPerSecond = 20

const Results = z.array(
  z.object({ kind: z.string(), atMs: z.number(), tookMs: z.number(), isKept: z.boolean(), problem: z.string() }),
)
/** A request of the load. Its problem is empty if it succeeded. */
export type RequestResult = z.infer<typeof Results>[number]

const Sent = z.object({ accepted: z.array(z.string()), repeated: z.number() })
const Message = z.object({ atMs: z.number(), text: z.string() })

/** Requests that are sent until they are stopped. */
export interface RequestLoad {
  stop(): Promise<RequestResult[]>
}

const inTester = (...command: string[]) => [
  '-n',
  surroundingsNamespace,
  'exec',
  '-i',
  `deployment/${testerName}`,
  '--',
  ...command,
]

/** Starts to send requests to all services of the product, from a pod. */
export const startRequests = (cluster: Cluster): RequestLoad => {
  const script = ['node', '/scripts/requests.ts', productUrl, String(requestsPerSecond), senderToken]
  const [program = '', ...words] = cluster.kubectlCommand(inTester(...script))
  const child = spawn(program, words, { stdio: ['pipe', 'pipe', 'inherit'] })
  let output = ''
  child.stdout.setEncoding('utf8').on('data', (text: string) => (output += text))
  const ended = once(child, 'close')
  return {
    async stop() {
      child.stdin.end()
      await ended
      return Results.parse(JSON.parse(output))
    },
  }
}

/** Sends this number of alerts, each with its own name. Returns the names of those that the product accepted. */
export const sendAlerts = async (cluster: Cluster, count: number, perSecond: number): Promise<z.infer<typeof Sent>> => {
  const script = ['node', '/scripts/alerts.ts', productUrl, String(count), String(perSecond), senderToken]
  const timeoutMs = (count / perSecond) * 1_000 + 120_000
  return Sent.parse(JSON.parse(await cluster.kubectl(inTester(...script), { timeoutMs })))
}

/** Returns the messages that the webhook has received. */
export const readMessages = async (cluster: Cluster): Promise<z.infer<typeof Message>[]> => {
  const text = await cluster.kubectl(inTester('sh', '-c', 'cat /data/messages.jsonl || true'))
  const lines = text.split('\n').filter((line) => line !== '')
  return lines.map((line) => Message.parse(JSON.parse(line)))
}

/** Returns a sentence about requests: how many failed and how long the others took. */
export const describeRequests = (results: readonly RequestResult[]): string => {
  const failed = results.filter(({ problem }) => problem !== '')
  const times = results.map(({ tookMs }) => tookMs).toSorted((a, b) => a - b)
  const at = (share: number) => times[Math.min(times.length - 1, Math.floor(times.length * share))] ?? 0
  return `${failed.length} of ${results.length} requests failed, p50 ${at(0.5)} ms, p99 ${at(0.99)} ms, max ${at(1)} ms`
}

/** Returns a line for each kind of failure with its number and period, the most frequent first. */
export const listFailures = (results: readonly RequestResult[]): string[] => {
  const groups = Map.groupBy(
    results.filter(({ problem }) => problem !== ''),
    ({ kind, problem }) => `${kind}: ${problem.slice(0, 160)}`,
  )
  const clock = (atMs = 0) => new Date(atMs).toISOString().slice(11, 19)
  return [...groups]
    .toSorted(([, a], [, b]) => b.length - a.length)
    .slice(0, maxListed)
    .map(([title, group]) => `${group.length} × ${clock(group[0]?.atMs)}–${clock(group.at(-1)?.atMs)} ${title}`)
}

const maxListed = 12
