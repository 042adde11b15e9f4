import { ServiceError } from '#proto/errors.ts'
import type { RepldbMirror } from '#proto/repldb.ts'
import type { RuleDefinition } from '#proto/rule-definition.ts'
import { copiesOf, progressOf, overviewOf } from '../../repldb/overview.ts'
import { endpoints } from '../../repldb/endpoints.ts'
import { errorsByMirror } from '../../repldb/log-patterns.ts'
import { allSlots, bytesPerMegabyte, slotGrowths } from '../../repldb/slots.ts'
import { measured, untold } from '../measured.ts'
import type { Evaluator } from './evaluator.ts'

/** An evaluator of what the replication service tells; where it does not answer nothing is told, and why. */
const told =
  (evaluator: Evaluator): Evaluator =>
  async (asked) => {
    try {
      return await evaluator(asked)
    } catch (error) {
      if (!(error instanceof ServiceError)) throw error
      return { measured: untold(error.message) }
    }
  }

/** How many mirrors are in a state, and which. */
const mirrorsIn = (state: RepldbMirror['state']): Evaluator =>
  told(async ({ replicationService, call, nowMs }) => {
    const { mirrors } = await overviewOf(replicationService, call, nowMs)
    const names = mirrors.flatMap((mirror) => (mirror.state === state ? [mirror.name] : []))
    return { measured: measured(names.length, names) }
  })

/** 1 while it does not answer or refuses the password, which leaves all else unknown. */
const unreachable: Evaluator = async ({ replicationService, call }) => {
  try {
    await replicationService.ask(endpoints.version, {}, call)
    return { measured: measured(0) }
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error
    return { measured: measured(1, [error.message]) }
  }
}

/** Bytes that the source keeps for the slot that is furthest behind. */
const slotLag = told(async ({ replicationService, call }) => {
  const slots = await allSlots(replicationService, call)
  const behind = slots.filter(({ lagInMb }) => (lagInMb ?? 0) > 0)
  const worst = (behind[0]?.lagInMb ?? 0) * bytesPerMegabyte
  return {
    measured: measured(
      Math.round(worst),
      behind.map(({ peer, slotName }) => `${peer}/${slotName}`),
    ),
  }
})

/** Bytes an hour by which the slot got behind that gets behind fastest; 0 while all catch up. */
const slotLagGrowth = told(async ({ replicationService, call }) => {
  const growing = (await slotGrowths(replicationService, call)).filter(({ bytesPerHour }) => bytesPerHour > 0)
  return {
    measured: measured(
      growing[0]?.bytesPerHour ?? 0,
      growing.map(({ slot }) => slot),
    ),
  }
})

/** Seconds since the copy that stands still for longest has got on. */
const snapshotStalled = told(async ({ replicationService, call, earlier, nowMs }) => {
  if (!earlier) return { measured: untold('what earlier sweeps found cannot be read') }
  const copies = progressOf(await copiesOf(replicationService, call, nowMs), earlier.copies, nowMs)
  const still = Object.entries(copies)
    .map(([mirror, { sinceMs }]) => ({ mirror, seconds: Math.round((nowMs - sinceMs) / 1_000) }))
    .filter(({ seconds }) => seconds > 0)
    .toSorted((one, other) => other.seconds - one.seconds)
  return {
    measured: measured(
      still[0]?.seconds ?? 0,
      still.map(({ mirror }) => mirror),
    ),
    keep: { copies },
  }
})

/** Lines of level error within the last hour, and of which mirrors. */
const errors = told(async ({ replicationService, call, nowMs }) => {
  const byMirror = [...(await errorsByMirror(replicationService, call, nowMs))]
  const lines = byMirror.reduce((sum, [, count]) => sum + count, 0)
  const names = byMirror.toSorted(([, one], [, other]) => other - one).map(([name]) => name || 'no mirror')
  return { measured: measured(lines, names) }
})

/** What is measured of the replication service, by the name that rules use. */
export const replicationServiceEvaluators: Readonly<Record<string, Evaluator>> = {
  'repldb-unreachable': unreachable,
  'repldb-mirror-failed': mirrorsIn('failed'),
  'repldb-mirror-paused': mirrorsIn('paused'),
  'repldb-slot-lag': slotLag,
  'repldb-slot-lag-growth': slotLagGrowth,
  'repldb-snapshot-stalled': snapshotStalled,
  'repldb-log-errors': errors,
}

/** Whether a rule means nothing without a replication service. */
export const isOfReplicationService = ({ evaluator }: Pick<RuleDefinition, 'evaluator'>): boolean =>
  evaluator !== undefined && Object.hasOwn(replicationServiceEvaluators, evaluator)
