import type { AlertPolicy } from '#proto/alerting.ts'
import type { AlertTarget } from '#proto/delivery.ts'
import type { HistoryState } from '#proto/history.ts'
import { exampleHostNames } from '#proto/host.ts'
import type { SetupItem } from '#proto/http/setup.ts'
import type { ConfigCheck } from '#proto/models.ts'
import type { Host, HostState } from '#proto/query.ts'

/** What is known about the installation; undefined if a service did not respond. */
export interface SetupFacts {
  hosts: readonly Host[]
  states: readonly HostState[] | undefined
  history: HistoryState | undefined
  targets: readonly Pick<AlertTarget, 'name' | 'channel' | 'broken' | 'last'>[] | undefined
  general: AlertPolicy['general'] | undefined
  sweptAtMs: number | null | undefined
  model: Pick<ConfigCheck, 'active' | 'defaultModel'> | undefined
}

type Step = Omit<SetupItem, 'id'>

const done = (detail: string): Step => ({ state: 'done', detail, missing: [] })
const open = (detail: string, missing: string[] = []): Step => ({ state: 'open', detail, missing })
const unknown = (detail: string): Step => ({ state: 'unknown', detail, missing: [] })

/** Maximum number of missing things per step. */
const maxMissing = 20

/** Returns the state of each step. */
export const describeSetup = (facts: SetupFacts): SetupItem[] => {
  const steps = {
    host: describeHosts(facts),
    grants: describeGrants(facts),
    history: describeHistory(facts),
    channel: describeChannels(facts),
    alerting: describeAlerting(facts),
    agent: describeAgent(facts),
  } satisfies Record<SetupItem['id'], Step>
  return Object.entries(steps).map(([id, step]) => ({
    // `steps` has exactly the ids as keys.
    id: id as SetupItem['id'],
    ...step,
    missing: step.missing.slice(0, maxMissing),
  }))
}

const isExample = ({ name }: Host): boolean => exampleHostNames.some((each) => each === name)

const describeHosts = ({ hosts, states }: SetupFacts): Step => {
  const own = hosts.filter((host) => !isExample(host))
  if (own.length === 0)
    return open(hosts.length === 0 ? 'No host is monitored' : 'Only the example hosts are monitored')
  if (!states) return unknown('The states of the hosts are not known')
  const stateOf = new Map(states.map((state) => [state.key, state]))
  const down = own.filter(({ key }) => stateOf.get(key)?.status !== 'up')
  if (down.length < own.length) return done(`${count(own.length - down.length, 'host')} connected`)
  return open(
    'No host of your own responds',
    down.map(({ key, name }) => `${name}: ${stateOf.get(key)?.failure ?? 'not checked yet'}`),
  )
}

/** Returns the states of the hosts that respond. */
const listReachable = ({ states = [] }: SetupFacts): readonly HostState[] =>
  states.filter(({ status }) => status === 'up')

const describeGrants = (facts: SetupFacts): Step => {
  const reachable = listReachable(facts)
  if (reachable.length === 0) return unknown('No host responds')
  const missing = reachable.flatMap(({ name, missingGrants }) => missingGrants.map((grant) => `${name}: ${grant}`))
  if (missing.length === 0) return done(`${count(reachable.length, 'host')} checked; no grants are missing`)
  return open('Grants are missing, so pages can lack rows', missing)
}

const describeHistory = (facts: SetupFacts): Step => {
  const reachable = listReachable(facts)
  if (reachable.length === 0) return unknown('No host responds')
  const missing = reachable.flatMap(({ name, missingLogs }) =>
    missingLogs.length === 0 ? [] : [`${name}: ${missingLogs.join(', ')}`],
  )
  if (missing.length > 0) return open('Log tables are missing or not readable, so pages lack history', missing)
  if (!facts.history) return unknown('The state of the history store is not known')
  const { isEnabled, problem } = facts.history
  if (!isEnabled) return open('History ends with the log tables of each host', ['SVC_HISTORY_URL is not set'])
  if (problem !== null) return open('The history store is unavailable', [problem])
  return done(`The log tables of ${count(reachable.length, 'host')} exist, and their history is recorded`)
}

const describeChannels = ({ targets }: SetupFacts): Step => {
  if (!targets) return unknown('The notification channels are not known')
  if (targets.length === 0) return open('No notification channel is configured')
  const broken = targets.flatMap(({ name, broken }) => (broken ? [`${name}: ${broken.reason}`] : []))
  const delivered = targets.filter(({ last, broken }) => !broken && last?.result === 'ok')
  if (delivered.length > 0) return done(`Delivered to ${delivered.map(({ name }) => name).join(', ')}`)
  return open('No notification has been delivered yet; send a test notification', broken)
}

const describeAlerting = ({ general, sweptAtMs }: SetupFacts): Step => {
  if (!general) return unknown('The alert settings are not known')
  const { enabled, sweepsEnabled, sweepMinutes } = general
  const missing = [
    ...(sweepsEnabled?.value === false ? [describeDisabledSweeps(sweepsEnabled.source)] : []),
    ...(!enabled.value && enabled.source !== 'default' ? ['Notifications are disabled'] : []),
  ]
  if (missing.length > 0) return open('Alerts are not sent', missing)
  if (!enabled.value) return open('Alerting starts with the first notification channel')
  const interval = sweepMinutes?.value ? `Rules are evaluated every ${count(sweepMinutes.value, 'minute')}` : null
  return done(interval ?? (sweptAtMs ? 'Rules are evaluated on request' : 'Alerting is enabled; no sweep has run yet'))
}

const describeDisabledSweeps = (source: string): string =>
  source === 'environment'
    ? 'Sweeps are disabled by SVC_HEALTH_SWEEP_ENABLED, so no rule is evaluated'
    : 'Sweeps are disabled, so no rule is evaluated'

const describeAgent = ({ model }: SetupFacts): Step => {
  if (!model) return unknown('The agent does not respond')
  return model.active ? done(`Default model: ${model.defaultModel ?? 'none'}`) : open('No model gateway is configured')
}

const count = (number: number, noun: string): string => `${number} ${noun}${number === 1 ? '' : 's'}`
