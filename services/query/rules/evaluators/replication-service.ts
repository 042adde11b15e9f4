import { ServiceError } from '#proto/errors.ts'
import type { RepldbMirror } from '#proto/repldb.ts'
import type { RuleDefinition } from '#proto/rule-definition.ts'
import { readSnapshotProgress, updateSnapshotProgress, readMirrorOverview } from '../../repldb/overview.ts'
import { replicationEndpoints } from '../../repldb/endpoints.ts'
import { fetchErrorCounts } from '../../repldb/log-patterns.ts'
import { fetchSlots, bytesPerMebibyte, fetchSlotLagGrowth } from '../../repldb/slots.ts'
import { createMeasurement, createMissingMeasurement } from '../measurement.ts'
import type { Evaluator } from './evaluator.ts'

/** Wraps an evaluator so that a failed request to the replication service becomes an unmeasured value. */
const catchServiceErrors =
  (evaluator: Evaluator): Evaluator =>
  async (input) => {
    try {
      return await evaluator(input)
    } catch (error) {
      if (!(error instanceof ServiceError)) throw error
      return { measured: createMissingMeasurement(error.message) }
    }
  }

/** Returns an evaluator that counts the mirrors in a state. */
const mirrorsIn = (state: RepldbMirror['state']): Evaluator =>
  catchServiceErrors(async ({ replicationService, call, nowMs }) => {
    const { mirrors } = await readMirrorOverview(replicationService, call, nowMs)
    const names = mirrors.flatMap((mirror) => (mirror.state === state ? [mirror.name] : []))
    return { measured: createMeasurement(names.length, names) }
  })

/** Returns 1 while the service does not respond or rejects the password. */
const unreachable: Evaluator = async ({ replicationService, call }) => {
  try {
    await replicationService.callApi(replicationEndpoints.version, {}, call)
    return { measured: createMeasurement(0) }
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error
    return { measured: createMeasurement(1, [error.message]) }
  }
}

/** Returns the bytes that the source retains for the slot with the highest lag. */
const slotLag = catchServiceErrors(async ({ replicationService, call }) => {
  const slots = await fetchSlots(replicationService, call)
  const behind = slots.filter(({ lagInMb }) => (lagInMb ?? 0) > 0)
  const worst = (behind[0]?.lagInMb ?? 0) * bytesPerMebibyte
  return {
    measured: createMeasurement(
      Math.round(worst),
      behind.map(({ peer, slotName }) => `${peer}/${slotName}`),
    ),
  }
})

/** Returns the fastest lag growth of any slot in bytes per hour, or 0 while all catch up. */
const slotLagGrowth = catchServiceErrors(async ({ replicationService, call }) => {
  const growing = (await fetchSlotLagGrowth(replicationService, call)).filter(({ bytesPerHour }) => bytesPerHour > 0)
  return {
    measured: createMeasurement(
      growing[0]?.bytesPerHour ?? 0,
      growing.map(({ slot }) => slot),
    ),
  }
})

/** Returns the seconds since the longest stalled snapshot last progressed. */
const snapshotStalled = catchServiceErrors(async ({ replicationService, call, earlier, nowMs }) => {
  if (!earlier) return { measured: createMissingMeasurement('the state of earlier sweeps cannot be read') }
  const copies = updateSnapshotProgress(
    await readSnapshotProgress(replicationService, call, nowMs),
    earlier.copies,
    nowMs,
  )
  const stalled = Object.entries(copies)
    .map(([mirror, { sinceMs }]) => ({ mirror, seconds: Math.round((nowMs - sinceMs) / 1_000) }))
    .filter(({ seconds }) => seconds > 0)
    .toSorted((one, other) => other.seconds - one.seconds)
  return {
    measured: createMeasurement(
      stalled[0]?.seconds ?? 0,
      stalled.map(({ mirror }) => mirror),
    ),
    changes: { copies },
  }
})

/** Counts the log lines of level error within the last hour, by mirror. */
const errors = catchServiceErrors(async ({ replicationService, call, nowMs }) => {
  const byMirror = [...(await fetchErrorCounts(replicationService, call, nowMs))]
  const lines = byMirror.reduce((sum, [, count]) => sum + count, 0)
  const names = byMirror.toSorted(([, one], [, other]) => other - one).map(([name]) => name || 'no mirror')
  return { measured: createMeasurement(lines, names) }
})

/** Evaluators of the replication service, by the name that rule definitions use. */
export const replicationServiceEvaluators: Readonly<Record<string, Evaluator>> = {
  'repldb-unreachable': unreachable,
  'repldb-mirror-failed': mirrorsIn('failed'),
  'repldb-mirror-paused': mirrorsIn('paused'),
  'repldb-slot-lag': slotLag,
  'repldb-slot-lag-growth': slotLagGrowth,
  'repldb-snapshot-stalled': snapshotStalled,
  'repldb-log-errors': errors,
}

/** Returns whether a rule is measured on the replication service. */
export const isReplicationServiceRule = ({ evaluator }: Pick<RuleDefinition, 'evaluator'>): boolean =>
  evaluator !== undefined && Object.hasOwn(replicationServiceEvaluators, evaluator)
