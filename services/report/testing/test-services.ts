import { pino } from 'pino'
import { Registry } from 'prom-client'
import { agent } from '#proto/agent.ts'
import { alerts } from '#proto/alerts.ts'
import { type ServiceClient, type ServiceHandlers, service } from '#proto/contract.ts'
import { query } from '#proto/query.ts'
import { openBus, openMemoryHub } from '#shared/bus/open.ts'
import { type Clock, systemClock } from '#shared/time/clock.ts'
import { noopTracers } from '#shared/telemetry/tracing.ts'

const { hosts, hostStates, hostStatus, insightRows, reportRows } = query.methods
const queryService = service('query', { hosts, hostStates, hostStatus, insightRows, reportRows })
const { alertHistory, alertChecks, silences, deliveries, notify } = alerts.methods
const alertService = service('alert-dispatcher', { alertHistory, alertChecks, silences, deliveries, notify })

const agentService = service('agent', { summarize: agent.methods.summarize })

type Query = ServiceHandlers<typeof queryService>
type Alerts = ServiceHandlers<typeof alertService>
type Agent = ServiceHandlers<typeof agentService>

/** Returns handlers of a `query` service that has these hosts and no rows. */
export const createQuietQueryHandlers = (...names: string[]): Query => ({
  hosts: async () => names.map((name, id) => ({ id, key: name, name, host: `${name}:8123`, group: null, tags: [] })),
  hostStates: async () => [],
  hostStatus: async () => ({
    version: '26.3.1.7',
    uptimeSeconds: 1,
    hostname: 'x',
    timezone: 'UTC',
    clockSkewMs: 0,
    metrics: null,
  }),
  insightRows: async () => ({ rows: [], sql: 'SELECT 1', unavailable: null }),
  reportRows: async () => ({ rows: [], unavailable: null }),
})

/** Handlers of an `alert-dispatcher` without alerts. Its only target accepts every notification. */
export const quietAlertHandlers: Alerts = {
  alertHistory: async () => [],
  alertChecks: async () => [],
  silences: async () => [],
  deliveries: async () => [],
  notify: async () => [{ channel: 'webhook', target: 't', name: 'ops', outcome: 'queued', reason: null }],
}

export interface TestClients {
  agent: ServiceClient<typeof agent>
  query: ServiceClient<typeof query>
  alerts: ServiceClient<typeof alerts>
}

/** Serves these handlers on a bus and returns the clients that `report` uses. */
export const openClients = async (
  opened: AsyncDisposableStack,
  served: { query: Query; alerts?: Alerts; agent?: Agent },
  clock: Clock = systemClock,
): Promise<TestClients> => {
  const hub = openMemoryHub()
  const telemetry = { log: pino({ level: 'silent' }), metrics: new Registry(), tracer: noopTracers.tracer('report') }
  const open = async (caller: 'query' | 'alert-dispatcher' | 'agent' | 'report') =>
    opened.use(await openBus({ hub, caller, instance: caller, version: '1', telemetry, clock }))
  opened.use(await (await open('query')).serve(queryService, served.query))
  if (served.alerts) opened.use(await (await open('alert-dispatcher')).serve(alertService, served.alerts))
  if (served.agent) opened.use(await (await open('agent')).serve(agentService, served.agent))
  const bus = await open('report')
  return { query: bus.client(query), alerts: bus.client(alerts), agent: bus.client(agent) }
}
