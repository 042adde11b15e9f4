import { createMeasurement, createMissingMeasurement } from '../measurement.ts'
import type { Evaluator } from './evaluator.ts'

/** Measures how many seconds of the logs of a host are not recorded; 0 while no history is recorded at all. */
export const evaluateHistoryBehind: Evaluator = async ({ contact, history }) => {
  if (!contact.answers) return { measured: createMissingMeasurement(contact.reason) }
  const seconds = await history.readSecondsBehind()
  return { measured: createMeasurement(seconds ?? 0, history.problem === undefined ? [] : [history.problem]) }
}
