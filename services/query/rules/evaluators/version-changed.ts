import { measured, untold } from '../measured.ts'
import { changeOf, type Evaluator } from './evaluator.ts'

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
