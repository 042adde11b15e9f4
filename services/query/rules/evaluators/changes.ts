import { z } from 'zod'
import { createMeasurement, createMissingMeasurement } from '../measurement.ts'
import { type Evaluator, detectChange, readRows, catchFailures } from './evaluator.ts'

/** How long a restart is reported. */
const recentMs = 600_000
/** Starts within this time count as a restart loop. */
const loopMs = 3_600_000
/** Tolerance for equal start times, because the uptime is in whole seconds and arrives with a delay. */
const toleranceMs = 10_000

/** Counts starts within the last hour, while the latest one is recent. Starts before the first sweep do not count. */
export const evaluateRestarts: Evaluator = async ({ contact, earlier }) => {
  if (!contact.answers) return { measured: createMissingMeasurement(contact.reason) }
  if (!earlier) return { measured: createMissingMeasurement('the state of earlier sweeps cannot be read') }
  const { firstMetMs, startsMs } = earlier
  if (firstMetMs === null) return { measured: createMeasurement(0), changes: { firstMetMs: contact.nowMs } }
  const startedMs = contact.nowMs - contact.uptimeSeconds * 1_000
  const known = startsMs.filter((startMs) => startMs > contact.nowMs - loopMs)
  const isKnown = known.some((startMs) => Math.abs(startMs - startedMs) <= toleranceMs)
  const isRecent = contact.nowMs - startedMs < recentMs
  const isNew = isRecent && !isKnown && startedMs > firstMetMs + toleranceMs
  const starts = isNew ? [...known, startedMs].slice(-maxStarts) : known
  return { measured: createMeasurement(isRecent ? starts.length : 0), ...(isNew && { changes: { startsMs: starts } }) }
}

const maxStarts = 100

/** Returns 1 for an hour after the server version changed. */
export const evaluateVersionChange: Evaluator = async ({ contact, earlier }) => {
  if (!contact.answers) return { measured: createMissingMeasurement(contact.reason) }
  if (!earlier) return { measured: createMissingMeasurement('the version of the last sweep cannot be read') }
  const known = { value: earlier.version, changedMs: earlier.versionChangedMs }
  const { isRecent, now } = detectChange(known, contact.version, contact.nowMs)
  return {
    measured: createMeasurement(isRecent ? 1 : 0, isRecent ? [contact.version] : []),
    ...(now && { changes: { version: now.value, versionChangedMs: now.changedMs } }),
  }
}

/** Sent without settings, which would count as changed. */
const statement = {
  what: 'rules',
  bare: true,
  maxSeconds: 5,
  sql: `SELECT toString(groupBitXor(cityHash64(name, value))) FROM system.settings WHERE changed`,
}
const Rows = z.tuple([z.tuple([z.string()])])

/** Returns 1 for an hour after the settings profile of the configured user changed. */
export const evaluateSettingsChange: Evaluator = catchFailures(async ({ host, contact, earlier, run }) => {
  if (!contact.answers) return { measured: createMissingMeasurement(contact.reason) }
  if (!earlier) return { measured: createMissingMeasurement('the settings of the last sweep cannot be read') }
  const [[hash]] = readRows(host, Rows, await run(statement))
  const known = { value: earlier.settingsHash, changedMs: earlier.settingsChangedMs }
  const { isRecent, now } = detectChange(known, hash, contact.nowMs)
  return {
    measured: createMeasurement(isRecent ? 1 : 0),
    ...(now && { changes: { settingsHash: now.value, settingsChangedMs: now.changedMs } }),
  }
})
