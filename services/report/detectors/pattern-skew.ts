import { grownBeside, compare } from '../measures/baseline.ts'
import { detector, type Fleet, type HostFacts, type Sight, untold, type PatternFacts } from '../measures/detector.ts'
import { duration, figure } from '../measures/words.ts'

const leastCalls = 20
const leastPeers = 2
const leastMs = 200
const leastScore = 5
const ratios = { info: 2, warning: 4 }

/** A pattern of statements takes longer here than on the other hosts of the group; says what is different here. */
export const patternSkew = detector({
  kind: 'pattern-skew',
  signal: '95th percentile of the time of one pattern, against the other hosts of its group',
  window: 'last day',
  sets: ['fingerprint-days'],
  link: '/compare',
  detect(_rows, fleet) {
    const peers = fleet.peers.filter(({ group, figures }) => group === fleet.self.group && figures !== null)
    if (fleet.peers.some(({ group }) => group === fleet.self.group) && peers.length < leastPeers) {
      return untold('skew: fewer than two other hosts of the group were looked at within a day')
    }
    const own = fleet.self.figures?.patterns ?? []
    return { notes: [], sights: own.flatMap((pattern) => skewOf(pattern, fleet, peers) ?? []) }
  },
})

const skewOf = (own: PatternFacts, { self }: Fleet, peers: readonly HostFacts[]): Sight | undefined => {
  const ran = peers.flatMap((peer) => {
    const pattern = peer.figures?.patterns.find(({ hash, calls }) => hash === own.hash && calls >= leastCalls)
    return pattern ? { peer, pattern } : []
  })
  if (own.calls < leastCalls || ran.length < leastPeers) return undefined
  const theirs = ran.map(({ pattern }) => pattern)
  const usual = compare(
    own.p95Ms,
    theirs.map(({ p95Ms }) => p95Ms),
    leastMs / 10,
  )
  if (!usual || usual.score < leastScore) return undefined
  if (own.p95Ms < ratios.info * usual.baseline || own.p95Ms - usual.baseline < leastMs) return undefined
  const times = own.p95Ms / Math.max(1, usual.baseline)
  const isAlone = ran.every(({ peer }) => peer.version !== self.version)
  const differences = [...(isAlone ? ['it runs another version'] : []), ...grownBeside(own, theirs)]
  const why = differences.length > 0 ? `Here ${differences.join(', ')}.` : 'Nothing else is known to be different here.'
  return {
    subject: own.hash,
    severity: times >= ratios.warning ? 'warning' : 'info',
    title: `A pattern takes ${figure(times)} times as long as on other hosts`,
    detail: `One in twenty of ${own.calls} executions took longer than ${duration(own.p95Ms / 1_000)}; on ${ran.length} other hosts it is ${duration(usual.baseline / 1_000)}. ${why}`,
    ...usual,
    value: own.p95Ms,
    unit: 'ms',
    confidence: ran.length >= 4 ? 'high' : 'medium',
  }
}
