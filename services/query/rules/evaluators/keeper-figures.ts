import { NetFailure } from '#shared/net/failure.ts'
import { isKeeper, readFigures } from '../../hosts/keeper.ts'
import { measured, untold } from '../measured.ts'
import type { Evaluator } from './evaluator.ts'

const totals = ['CommitsFailed', 'RequestRejectedDueToSoftMemoryLimitCount', 'Latency', 'RequestTotal'] as const
/** What a node has counted since it started, which says something by its growth alone. */
type KeeperTotals = Partial<Record<(typeof totals)[number], number>>

/** The totals among the figures of a node. */
export const keeperTotals = (figures: ReadonlyMap<string, number>): KeeperTotals =>
  Object.fromEntries(totals.map((name) => [name, figures.get(`ClickHouseProfileEvents_Keeper${name}`) ?? 0]))

interface Fault {
  fault: string
  /** It cannot do its work; else it is near that. */
  isFailure: boolean
}

const maxOutstanding = 10
const maxAverageMs = 50
const maxOpenShare = 0.8

/** What is wrong with a node, by its figures and what it had counted before; one that gives no figure of Keeper is none. */
export const keeperFaults = (figures: ReadonlyMap<string, number>, before: KeeperTotals): Fault[] => {
  const figure = (name: string): number => figures.get(`ClickHouseAsyncMetrics_Keeper${name}`) ?? 0
  const now = keeperTotals(figures)
  const grown = (name: keyof KeeperTotals): number => Math.max(0, (now[name] ?? 0) - (before[name] ?? now[name] ?? 0))
  const checks: [fault: string, isFailure: boolean, holds: boolean][] = [
    ['it has lost its quorum', true, isWithoutRole(figure)],
    ['no follower is in step with it', true, figure('Followers') > 0 && figure('SyncedFollowers') === 0],
    ['commits have failed', true, grown('CommitsFailed') > 0],
    ['it refuses writes for want of memory', false, grown('RequestRejectedDueToSoftMemoryLimitCount') > 0],
    ['requests wait', false, outstanding(figures) > maxOutstanding],
    ['it answers slowly', false, grown('Latency') > maxAverageMs * Math.max(grown('RequestTotal'), 1)],
    [
      'its files run out',
      false,
      figure('OpenFileDescriptorCount') > maxOpenShare * (figure('MaxFileDescriptorCount') || Infinity),
    ],
  ]
  if (!isKeeper(figures)) return [{ fault: 'it gives no figures of Keeper', isFailure: true }]
  return checks.filter(([, , holds]) => holds).map(([fault, isFailure]) => ({ fault, isFailure }))
}

/** A member of an ensemble leads, follows or observes; one without others does neither. */
const isWithoutRole = (figure: (name: string) => number): boolean =>
  ['IsLeader', 'IsFollower', 'IsObserver', 'IsStandalone'].every((role) => figure(role) === 0)

/** Before 24.7 its name was misspelt. */
const outstanding = (figures: ReadonlyMap<string, number>): number =>
  figures.get('ClickHouseMetrics_KeeperOutstandingRequests') ??
  figures.get('ClickHouseMetrics_KeeperOutstandingRequets') ??
  0

const timeoutMs = 5_000
const failing = 2
const strained = 1

/** What is wrong with the Keeper node beside the host, by its own figures: 0 nothing, 1 it is strained, 2 it fails. */
export const keeperNode: Evaluator = async ({ host, earlier, net, signal }) => {
  if (!host.keeperMetrics)
    return { measured: untold(`no address of Keeper's own figures is configured for host ${host.name}`) }
  try {
    const answer = await net.trusted(host.keeperMetrics, { signal, timeoutMs })
    if (!answer.ok) return { measured: measured(failing, ['its figures cannot be read']) }
    const figures = readFigures(await answer.text())
    const faults = keeperFaults(figures, earlier?.keeper ?? {})
    const level = faults.some(({ isFailure }) => isFailure) ? failing : Math.min(strained, faults.length)
    const named = faults.map(({ fault }) => fault)
    return { measured: measured(level, named), keep: { keeper: keeperTotals(figures) } }
  } catch (error) {
    if (!(error instanceof NetFailure)) throw error
    return { measured: measured(failing, ['it does not answer']) }
  }
}
