import { describeGrowth, compareWithBaseline } from '../detection/baseline.ts'
import {
  defineDetector,
  type Fleet,
  type HostFacts,
  type Observation,
  createNoDataOutcome,
  type PatternFacts,
} from '../detection/detector.ts'
import { formatSeconds, formatNumber } from '../format.ts'

const minCalls = 20
const minPeers = 2
const minMs = 200
const minScore = 5
const ratios = { info: 2, warning: 4 }

/** Detects query patterns that take longer than on the other hosts of the group, and describes the differences. */
export const patternSkewDetector = defineDetector({
  kind: 'pattern-skew',
  signal: '95th percentile of the duration of one query pattern, compared with the other hosts of the group',
  window: 'last day',
  sets: ['fingerprint-days'],
  link: '/compare',
  detect(_rows, fleet) {
    const peers = fleet.peers.filter(({ group, figures }) => group === fleet.self.group && figures !== null)
    if (fleet.peers.some(({ group }) => group === fleet.self.group) && peers.length < minPeers) {
      return createNoDataOutcome('skew: fewer than two other hosts of the group were scanned within a day')
    }
    const own = fleet.self.figures?.patterns ?? []
    return { notes: [], observations: own.flatMap((pattern) => createObservation(pattern, fleet, peers) ?? []) }
  },
})

const createObservation = (
  own: PatternFacts,
  { self }: Fleet,
  peers: readonly HostFacts[],
): Observation | undefined => {
  const ran = peers.flatMap((peer) => {
    const pattern = peer.figures?.patterns.find(({ hash, calls }) => hash === own.hash && calls >= minCalls)
    return pattern ? { peer, pattern } : []
  })
  if (own.calls < minCalls || ran.length < minPeers) return undefined
  const theirs = ran.map(({ pattern }) => pattern)
  const usual = compareWithBaseline(
    own.p95Ms,
    theirs.map(({ p95Ms }) => p95Ms),
    minMs / 10,
  )
  if (!usual || usual.score < minScore) return undefined
  if (own.p95Ms < ratios.info * usual.baseline || own.p95Ms - usual.baseline < minMs) return undefined
  const times = own.p95Ms / Math.max(1, usual.baseline)
  const isAlone = ran.every(({ peer }) => peer.version !== self.version)
  const differences = [...(isAlone ? ['the version differs'] : []), ...describeGrowth(own, theirs)]
  const why = differences.length > 0 ? `On this host: ${differences.join(', ')}.` : 'No other difference was found.'
  return {
    subject: own.hash,
    severity: times >= ratios.warning ? 'warning' : 'info',
    title: `A query pattern takes ${formatNumber(times)} times as long as on other hosts`,
    detail: `The 95th percentile of ${own.calls} executions was ${formatSeconds(own.p95Ms / 1_000)}; on ${ran.length} other hosts it was ${formatSeconds(usual.baseline / 1_000)}. ${why}`,
    ...usual,
    value: own.p95Ms,
    unit: 'ms',
    confidence: ran.length >= 4 ? 'high' : 'medium',
  }
}
