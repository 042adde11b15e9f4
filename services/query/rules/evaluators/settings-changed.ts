import { z } from 'zod'
import { measured, untold } from '../measured.ts'
import { changeOf, type Evaluator, failing, readRows } from './evaluator.ts'

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
