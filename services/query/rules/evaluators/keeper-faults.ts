import { NetFailure } from '#shared/net/failure.ts'
import { isKeeperNode, parsePrometheusMetrics } from '../../hosts/keeper-metrics.ts'
import { createMeasurement, createMissingMeasurement } from '../measurement.ts'
import type { Evaluator } from './evaluator.ts'

const totals = ['CommitsFailed', 'RequestRejectedDueToSoftMemoryLimitCount', 'Latency', 'RequestTotal'] as const
/** Counters of a node since its start; only their growth is meaningful. */
type KeeperTotals = Partial<Record<(typeof totals)[number], number>>

/** Returns the counters among a node's metrics. */
export const readKeeperCounters = (figures: ReadonlyMap<string, number>): KeeperTotals =>
  Object.fromEntries(totals.map((name) => [name, figures.get(`ClickHouseProfileEvents_Keeper${name}`) ?? 0]))

interface Fault {
  fault: string
  /** Whether the node is failing; otherwise it is degraded. */
  isFailure: boolean
}

const maxOutstanding = 10
const maxAverageMs = 50
const maxOpenShare = 0.8

/** Returns the faults of a node, from its metrics and its earlier counters. Missing Keeper metrics are a failure. */
export const findKeeperFaults = (figures: ReadonlyMap<string, number>, before: KeeperTotals): Fault[] => {
  const figure = (name: string): number => figures.get(`ClickHouseAsyncMetrics_Keeper${name}`) ?? 0
  const now = readKeeperCounters(figures)
  const grown = (name: keyof KeeperTotals): number => Math.max(0, (now[name] ?? 0) - (before[name] ?? now[name] ?? 0))
  const checks: [fault: string, isFailure: boolean, holds: boolean][] = [
    ['quorum lost', true, isWithoutRole(figure)],
    ['no follower is in sync', true, figure('Followers') > 0 && figure('SyncedFollowers') === 0],
    ['commits failed', true, grown('CommitsFailed') > 0],
    ['writes rejected at the memory limit', false, grown('RequestRejectedDueToSoftMemoryLimitCount') > 0],
    ['requests are queued', false, outstanding(figures) > maxOutstanding],
    ['high request latency', false, grown('Latency') > maxAverageMs * Math.max(grown('RequestTotal'), 1)],
    [
      'file descriptors nearly exhausted',
      false,
      figure('OpenFileDescriptorCount') > maxOpenShare * (figure('MaxFileDescriptorCount') || Infinity),
    ],
  ]
  if (!isKeeperNode(figures)) return [{ fault: 'no Keeper metrics', isFailure: true }]
  return checks.filter(([, , holds]) => holds).map(([fault, isFailure]) => ({ fault, isFailure }))
}

/** Returns whether a node has no role. Every healthy node is a leader, follower, observer or standalone. */
const isWithoutRole = (figure: (name: string) => number): boolean =>
  ['IsLeader', 'IsFollower', 'IsObserver', 'IsStandalone'].every((role) => figure(role) === 0)

/** Reads the number of outstanding requests. ClickHouse before 24.7 misspells the name of the metric. */
const outstanding = (figures: ReadonlyMap<string, number>): number =>
  figures.get('ClickHouseMetrics_KeeperOutstandingRequests') ??
  figures.get('ClickHouseMetrics_KeeperOutstandingRequets') ??
  0

const timeoutMs = 5_000
const failing = 2
const degraded = 1

/** Returns the state of the host's Keeper node from its own metrics: 0 healthy, 1 degraded, 2 failing. */
export const evaluateKeeperNode: Evaluator = async ({ host, earlier, net, signal }) => {
  if (!host.keeperMetrics)
    return { measured: createMissingMeasurement(`no Keeper metrics URL is configured for host ${host.name}`) }
  try {
    const response = await net.trusted(host.keeperMetrics, { signal, timeoutMs })
    if (!response.ok) return { measured: createMeasurement(failing, ['metrics cannot be read']) }
    const figures = parsePrometheusMetrics(await response.text())
    const faults = findKeeperFaults(figures, earlier?.keeper ?? {})
    const level = faults.some(({ isFailure }) => isFailure) ? failing : Math.min(degraded, faults.length)
    const named = faults.map(({ fault }) => fault)
    return { measured: createMeasurement(level, named), changes: { keeper: readKeeperCounters(figures) } }
  } catch (error) {
    if (!(error instanceof NetFailure)) throw error
    return { measured: createMeasurement(failing, ['no response']) }
  }
}
