import { setTimeout as wait } from 'node:timers/promises'
import { formatHostVariables, type ProductHost } from '../../testing/product.ts'
import { type ProductProcess, startProcess } from '../../testing/product/product-process.ts'
import { startNats, startRedis } from '../../testing/describe-with.ts'
import { reserveFreePort } from '../../testing/servers/port.ts'
import { compareHost, type RecordedHost, waitUntilRecorded } from './kills.ts'
import { startQueryLoad } from './query-load.ts'
import { startRealServer } from './real-server.ts'
import type { Report } from './report.ts'

/** What is killed, how often, and in what time. */
export interface FleetKillPlan {
  kills: number
  hosts: number
  minutes: number
}

const version = '25.8'
/** Servers behind the hosts. Each host has its own name, watermarks and history. */
const servers = 2
const recorders = 2
const queriesPerSecond = 10
/** How long a killed server stays down at most. */
const maxDownMs = 5_000

/** A process that can be killed and started again. */
interface Killable {
  name: string
  kill(): Promise<void>
  restart(): Promise<void>
}

/** Kills recorders, NATS and the history server at random times, and compares the history of every host with its logs. */
export const checkFleetKills = async (plan: FleetKillPlan, report: Report): Promise<void> => {
  await using scope = new AsyncDisposableStack()
  const engines = await Promise.all(
    Array.from({ length: servers }, (_, index) => startRealServer(version, `e${index}`)),
  )
  for (const engine of engines) scope.use(engine)
  const urls = engines.map(({ url }) => url)
  const hosts = Array.from({ length: plan.hosts }, (_, index) => ({
    name: `host-${index}`,
    url: urls[index % servers] ?? '',
  }))
  const { processes, targets, historyUrl } = await startFleet(scope, hosts)
  using _load = startQueryLoad(urls, queriesPerSecond)
  const killed = await killAtRandom(targets, plan)
  const recorded = hosts.map(({ name, url }) => ({ host: name, hostUrl: url, historyUrl }))
  await report(
    `${plan.kills} kills in ${plan.minutes} min (${killed}): every host is recorded up to its end`,
    async () => {
      for (const host of recorded) await waitUntilRecorded(host)
    },
  )
  for (const process of processes) await process.stop()
  await report(`${plan.hosts} hosts: nothing is lost or duplicated`, () => compareAll(recorded))
}

interface Fleet {
  processes: readonly ProductProcess[]
  targets: readonly Killable[]
  historyUrl: string
}

/** Starts recorders with the servers that they need. */
const startFleet = async (scope: AsyncDisposableStack, hosts: readonly ProductHost[]): Promise<Fleet> => {
  const history = scope.use(await startRealServer(version, 'history'))
  const [nats, redis] = [scope.use(await startNats({ private: true })), scope.use(await startRedis({ private: true }))]
  const variables = {
    ...formatHostVariables(hosts),
    NATS_URL: nats.url,
    REDIS_URL: redis.url,
    SVC_HISTORY_URL: history.url,
    LOG_LEVEL: 'warn',
  }
  const processes: ProductProcess[] = []
  while (processes.length < recorders) {
    const operationsPort = await reserveFreePort()
    processes.push(scope.use(await startProcess({ services: ['query'], variables, operationsPort })))
  }
  const targets = [
    ...processes.map((process, index) => ({ name: `recorder ${index}`, ...toKillable(process) })),
    { name: 'NATS', ...toKillable(nats) },
    { name: 'history', ...toKillable(history) },
  ]
  return { processes, targets, historyUrl: history.url }
}

const toKillable = ({ kill, restart }: Omit<Killable, 'name'>): Omit<Killable, 'name'> => ({ kill, restart })

/** Returns how often each target was killed. */
const killAtRandom = async (targets: readonly Killable[], { kills, minutes }: FleetKillPlan): Promise<string> => {
  const counts = new Map(targets.map(({ name }) => [name, 0]))
  const startedMs = performance.now()
  const timesMs = Array.from({ length: kills }, () => Math.random() * minutes * 60_000).toSorted((a, b) => a - b)
  for (const [index, atMs] of timesMs.entries()) {
    await wait(Math.max(0, startedMs + atMs - performance.now()))
    // Every target is killed in turn at first, so that none is spared by chance.
    const target = targets[index < targets.length ? index : Math.floor(Math.random() * targets.length)]
    if (!target) continue
    await target.kill()
    await wait(Math.random() * maxDownMs)
    await target.restart()
    counts.set(target.name, (counts.get(target.name) ?? 0) + 1)
  }
  return [...counts].map(([name, count]) => `${name} ${count}`).join(', ')
}

const compareAll = async (hosts: readonly RecordedHost[]): Promise<string> => {
  const wrong: string[] = []
  let calls = 0
  let batches = 0
  for (const host of hosts) {
    const differences = await compareHost(host)
    const { gaps, overlaps, seconds, calls: difference, recordedCalls } = differences
    calls += recordedCalls
    batches += differences.batches
    const isSame = [gaps, overlaps, seconds, difference].every((value) => value === 0) && recordedCalls > 0
    if (!isSame) wrong.push(`${host.host}: ${JSON.stringify(differences)}`)
  }
  if (wrong.length > 0) throw new Error(wrong.join('; '))
  return `${batches} batches, ${calls} calls, 0 lost, 0 duplicate`
}
