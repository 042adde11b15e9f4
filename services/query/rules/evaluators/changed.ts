import { z } from 'zod'
import { measured, untold } from '../measured.ts'
import { type Evaluator, changeOf, failing, readRows } from './evaluator.ts'

/** A start this recent is told. */
const recentMs = 600_000
/** Starts within so long make a loop. */
const loopMs = 3_600_000
/** An uptime is told in whole seconds, and some time after it was read. */
const toleranceMs = 10_000

/** Starts within the last hour, as long as the last one is recent; the one before the host was met first is none of them. */
export const restarted: Evaluator = async ({ contact, earlier }) => {
  if (!contact.answers) return { measured: untold(contact.reason) }
  if (!earlier) return { measured: untold('what earlier sweeps found cannot be read') }
  const { firstMetMs, startsMs } = earlier
  if (firstMetMs === null) return { measured: measured(0), keep: { firstMetMs: contact.nowMs } }
  const startedMs = contact.nowMs - contact.uptimeSeconds * 1_000
  const known = startsMs.filter((startMs) => startMs > contact.nowMs - loopMs)
  const isKnown = known.some((startMs) => Math.abs(startMs - startedMs) <= toleranceMs)
  const isRecent = contact.nowMs - startedMs < recentMs
  const isNew = isRecent && !isKnown && startedMs > firstMetMs + toleranceMs
  const starts = isNew ? [...known, startedMs].slice(-maxStarts) : known
  return { measured: measured(isRecent ? starts.length : 0), ...(isNew && { keep: { startsMs: starts } }) }
}

const maxStarts = 100

/** 1 for an hour after the server was found with another version than before. */
export const versionChanged: Evaluator = async ({ contact, earlier }) => {
  if (!contact.answers) return { measured: untold(contact.reason) }
  if (!earlier) return { measured: untold('the version of the last sweep cannot be read now') }
  const known = { value: earlier.version, changedMs: earlier.versionChangedMs }
  const { isRecent, now } = changeOf(known, contact.version, contact.nowMs)
  return {
    measured: measured(isRecent ? 1 : 0, isRecent ? [contact.version] : []),
    ...(now && { keep: { version: now.value, versionChangedMs: now.changedMs } }),
  }
}

/** Sent without settings of ours, which would be among those that differ. */
const statement = {
  what: 'rules',
  bare: true,
  maxSeconds: 5,
  sql: `SELECT toString(groupBitXor(cityHash64(name, value))) FROM system.settings WHERE changed`,
}
const Rows = z.tuple([z.tuple([z.string()])])

/** 1 for an hour after the settings of our user's profile were found to differ from before. */
export const settingsChanged: Evaluator = failing(async ({ host, contact, earlier, ask }) => {
  if (!contact.answers) return { measured: untold(contact.reason) }
  if (!earlier) return { measured: untold('the settings of the last sweep cannot be read now') }
  const [[hash]] = readRows(host, Rows, await ask(statement))
  const known = { value: earlier.settingsHash, changedMs: earlier.settingsChangedMs }
  const { isRecent, now } = changeOf(known, hash, contact.nowMs)
  return {
    measured: measured(isRecent ? 1 : 0),
    ...(now && { keep: { settingsHash: now.value, settingsChangedMs: now.changedMs } }),
  }
})
