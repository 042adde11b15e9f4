import { connect, type Socket } from 'node:net'
import { setTimeout as wait } from 'node:timers/promises'
import { afterAll, beforeAll, expect, it, vi } from 'vitest'
import { describeWith } from '../../testing/describe-with.ts'
import { fetchJson, retryUntil } from '../../testing/fetch-json.ts'
import { formatAlertTable } from './alert-table.ts'
import { type AlertRule, readDashboardQueries, readScaledAlerts } from './scaled-alerts.ts'
import {
  isTrafficStatement,
  memoryLimitException,
  type ScrapedProduct,
  startScrapedProduct,
} from './scraped-product.ts'

/** Timeout for an alert to fire or to stop, in milliseconds. */
const withinMs = 180_000
/** Timeout for the first scrapes, in milliseconds. */
const scrapedWithinMs = 20_000
/** How long a healthy product is observed, in milliseconds. */
const healthyMs = 45_000

vi.setConfig({ testTimeout: 2 * withinMs, hookTimeout: 300_000 })

/** A fault, the alerts that are for it, and those that it causes too. */
interface Fault {
  name: string
  fires: readonly string[]
  /** Alerts that are correct during this fault too, but may fire later than the others or not at all. */
  mayFire: readonly string[]
  /** Produces the fault and returns the function that ends it. */
  produce(product: ScrapedProduct): Promise<() => Promise<unknown>>
}

const killProcess =
  (component: keyof ScrapedProduct['processes']): Fault['produce'] =>
  async ({ processes }) => {
    await processes[component].kill()
    return () => processes[component].restart()
  }

const killServer =
  (server: keyof ScrapedProduct['servers']): Fault['produce'] =>
  async ({ servers }) => {
    await servers[server].kill()
    return () => servers[server].restart()
  }

/** Changes the response of both hosts to statements until the fault ends. */
const changeHosts =
  (inspect: NonNullable<ScrapedProduct['hosts']['inspect']>): Fault['produce'] =>
  async ({ hosts }) => {
    hosts.inspect = inspect
    return async () => void (hosts.inspect = undefined)
  }

/** More than the gateway handles at the same time. */
const openRequests = 1_100
const slowStatementMs = 7_000
const busyStatementMs = 40
/** More requests than a host has slots and places in its queue. */
const impatientCallers = 70
const backlog = 1_300
/** Longer than a message may wait, in milliseconds. */
const hangMs = 40_000

/** Opens requests whose body never arrives. Returns the function that ends them. */
const holdRequests = async ({ url }: ScrapedProduct): Promise<() => Promise<void>> => {
  const { hostname, port, host } = new URL(url)
  const head = `POST /api/events/ingest HTTP/1.1\r\nHost: ${host}\r\nAuthorization: Bearer token of the senders\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{`
  const open = async (): Promise<Socket> => {
    const socket = connect({ host: hostname, port: Number(port) })
    socket.on('error', () => {})
    socket.resume().write(head)
    return socket
  }
  const sockets = await Promise.all(Array.from({ length: openRequests }, open))
  return async () => {
    for (const socket of sockets) socket.destroy()
  }
}

/**
 * Sends requests for a busy host, each again after its response, until the returned function is called. The queue of a
 * host that hangs stays short, because it rejects statements that would wait too long.
 */
const crowdHost = async ({ url, hosts }: ScrapedProduct): Promise<() => Promise<void>> => {
  hosts.inspect = async (body, path) => {
    if (isTrafficStatement(body, path)) await wait(busyStatementMs)
    return body
  }
  const stop = new AbortController()
  // Each caller has its own limit, because equal statements that run at the same time are sent once.
  const callRepeatedly = async (_: unknown, caller: number) => {
    const path = `/api/v1/tables/settings?hostId=0&limit=${caller + 2}`
    while (!stop.signal.aborted) await fetchJson(`${url}${path}`).catch(() => {})
  }
  const calling = Array.from({ length: impatientCallers }, callRepeatedly)
  return async () => {
    stop.abort()
    hosts.inspect = undefined
    await Promise.all(calling)
  }
}

const faults: readonly Fault[] = [
  {
    name: 'query is killed, a guest process runs',
    fires: ['WatchhouseDown', 'WatchhouseBusFailing', 'WatchhouseRequestsFailing'],
    mayFire: ['WatchhouseSweepMissing', 'WatchhouseRulesUnknown', 'WatchhouseRequestsSlow'],
    produce: killProcess('query'),
  },
  {
    name: 'gateway is killed',
    fires: ['WatchhouseDown'],
    mayFire: ['WatchhouseSweepMissing'],
    produce: killProcess('gateway'),
  },
  {
    name: 'alert-dispatcher is killed',
    fires: ['WatchhouseSweepMissing', 'WatchhouseBusFailing'],
    mayFire: ['WatchhouseRequestsFailing'],
    produce: killProcess('alert-dispatcher'),
  },
  {
    name: 'one process has another version',
    fires: ['WatchhouseVersionsDiffer'],
    mayFire: [],
    async produce(product) {
      const other = await product.startOtherVersion()
      return () => Promise.resolve(other[Symbol.asyncDispose]())
    },
  },
  {
    name: 'nothing requests sweeps',
    fires: ['WatchhouseSweepMissing'],
    mayFire: [],
    async produce(product) {
      product.isSweeping = false
      return async () => void (product.isSweeping = true)
    },
  },
  {
    name: 'the host rejects the statement of a rule',
    fires: ['WatchhouseRulesUnknown'],
    mayFire: [],
    produce: changeHosts(async (body, url) =>
      /FROM system\.disks\b/.test(`${decodeURIComponent(url)} ${body.toString()}`) ? memoryLimitException : body,
    ),
  },
  {
    name: 'the receiver of notifications fails',
    fires: ['WatchhouseDeliveryFailing'],
    mayFire: [],
    async produce({ receiver }) {
      receiver.isDown = true
      return async () => void (receiver.isDown = false)
    },
  },
  {
    name: 'PostgreSQL is killed while events arrive',
    fires: ['WatchhouseServerUnavailable', 'WatchhouseQueueGrowing'],
    mayFire: ['WatchhouseQueueSlow', 'WatchhouseRequestsFailing', 'WatchhouseBusFailing'],
    async produce(product) {
      const restart = await killServer('postgres')(product)
      await product.sendEvents(backlog)
      return restart
    },
  },
  {
    name: 'Redis is killed',
    fires: ['WatchhouseServerUnavailable', 'WatchhouseSweepMissing'],
    mayFire: ['WatchhouseRequestsFailing', 'WatchhouseBusFailing'],
    produce: killServer('redis'),
  },
  {
    name: 'NATS is killed',
    fires: ['WatchhouseServerUnavailable', 'WatchhouseBusFailing', 'WatchhouseRequestsFailing'],
    mayFire: ['WatchhouseSweepMissing', 'WatchhouseRequestsSlow'],
    produce: killServer('nats'),
  },
  {
    name: 'alert-dispatcher hangs while events arrive, then goes on',
    fires: ['WatchhouseSweepMissing', 'WatchhouseQueueSlow'],
    mayFire: ['WatchhouseQueueGrowing', 'WatchhouseRequestsFailing', 'WatchhouseBusFailing', 'WatchhouseRequestsSlow'],
    async produce(product) {
      const { pid } = product.processes['alert-dispatcher']
      process.kill(pid, 'SIGSTOP')
      await product.sendEvents(backlog / 4)
      await wait(hangMs)
      process.kill(pid, 'SIGCONT')
      return async () => {}
    },
  },
  {
    name: 'both hosts reject half of the statements',
    fires: ['WatchhouseRequestsFailing'],
    mayFire: [],
    produce: changeHosts(async (body, url) => (isTrafficStatement(body, url) ? memoryLimitException : body)),
  },
  {
    name: 'both hosts respond slowly',
    fires: ['WatchhouseRequestsSlow'],
    mayFire: [],
    produce: changeHosts(async (body, url) => {
      if (isTrafficStatement(body, url)) await wait(slowStatementMs)
      return body
    }),
  },
  {
    name: 'many callers query a busy host',
    fires: ['WatchhouseHostQueueFull'],
    mayFire: ['WatchhouseRequestsFailing', 'WatchhouseRequestsSlow'],
    produce: crowdHost,
  },
  {
    name: 'the gateway has too many open requests',
    fires: ['WatchhouseRequestsRefused'],
    mayFire: ['WatchhouseSweepMissing', 'WatchhouseRequestsSlow'],
    produce: holdRequests,
  },
  {
    name: 'both hosts are unreachable',
    fires: ['WatchhouseHostsDown', 'WatchhouseRequestsFailing'],
    mayFire: ['WatchhouseRulesUnknown', 'WatchhouseSweepMissing'],
    produce: changeHosts(async () => {
      throw new Error('the host closes its connections')
    }),
  },
]

/** Metrics without a value here: answers need a model, and no alert is muted. `dashboards.test.ts` checks their names. */
const withoutData = /watchhouse_(agent_(answers|tokens)_total|agent_answer_seconds|alert_notices_suppressed_total)/

const firing = async ({ prometheus }: ScrapedProduct): Promise<Set<string>> => {
  const samples = await prometheus.query('ALERTS{alertstate="firing"}')
  return new Set(samples.map(({ labels }) => labels.alertname ?? ''))
}

/** Observes alerts until `isOver`. Returns those that fired, each with the time after which it fired. */
const observe = async (
  product: ScrapedProduct,
  isOver: (fired: ReadonlyMap<string, number>, now: ReadonlySet<string>) => boolean,
  fired = new Map<string, number>(),
): Promise<Map<string, number>> => {
  const beganMs = performance.now()
  await retryUntil(
    async () => {
      const now = await firing(product)
      for (const alert of now) if (!fired.has(alert)) fired.set(alert, performance.now() - beganMs)
      await wait(250)
      return { now, fired }
    },
    (seen) => isOver(seen.fired, seen.now),
    withinMs,
  ).catch(async (error: unknown) => {
    throw new Error(
      `${String(error)}; fired: ${[...fired.keys()].join(', ')}; firing: ${[...(await firing(product))].join(', ')}`,
    )
  })
  return fired
}

describeWith(['nats', 'redis', 'postgres'], 'the alerts of the chart', () => {
  let product: ScrapedProduct
  let rules: AlertRule[]
  const results = new Map<string, ReadonlyMap<string, number>>()
  const beganMs = performance.now()

  beforeAll(async () => {
    rules = await readScaledAlerts()
    product = await startScrapedProduct(rules)
    // Before the first scrape, the metrics of every process are absent.
    await retryUntil(
      () => product.prometheus.query('watchhouse_build_info'),
      ({ length }) => length === Object.keys(product.processes).length,
      scrapedWithinMs,
    )
    await wait(scrapedWithinMs / 2)
  })
  afterAll(async () => {
    process.stdout.write(formatAlertTable(rules, results))
    await product?.[Symbol.asyncDispose]()
  })

  it('do not fire while everything works', async () => {
    await observe(product, (_fired, now) => now.size === 0)
    const until = performance.now() + healthyMs
    const fired = await observe(product, () => performance.now() > until)
    expect([...fired.keys()]).toEqual([])
  })

  it.each(faults)('fire if $name', async ({ name, fires, mayFire, produce }) => {
    await observe(product, (_fired, now) => now.size === 0)
    const end = await produce(product)
    const fired = new Map<string, number>()
    try {
      await observe(product, () => fires.every((alert) => fired.has(alert)), fired)
    } finally {
      await end()
    }
    await observe(product, (_fired, now) => now.size === 0, fired)
    results.set(name, fired)
    expect([...fired.keys()].filter((alert) => !fires.includes(alert) && !mayFire.includes(alert))).toEqual([])
  })

  it('have dashboards whose queries return data', async () => {
    const seconds = Math.ceil((performance.now() - beganMs) / 1_000)
    const missing: string[] = []
    for (const { title, panels, variables } of await readDashboardQueries()) {
      expect(panels.length).toBeGreaterThan(0)
      for (const { title: panel, expression } of panels) {
        const series = await product.prometheus.countSeries(expression, seconds)
        if (series === 0) missing.push(`${title}, ${panel}: ${expression}`)
      }
      for (const { metric, label } of variables)
        expect([metric, label, (await product.prometheus.labelValues(metric, label)).length]).not.toContain(0)
    }
    expect(missing.filter((query) => !withoutData.test(query))).toEqual([])
  })

  it('each have a fault', () => {
    const covered = new Set(faults.flatMap(({ fires }) => fires))
    expect(rules.map(({ alert }) => alert).filter((alert) => !covered.has(alert))).toEqual([])
  })
})
