import { hashOf } from '#shared/evidence/recording.ts'

/** What a tool may be asked again, so that a model does not go in circles. */
export interface Tries {
  /** Why a call is not carried out; undefined when it is. */
  refusal(name: string, input: Readonly<Record<string, unknown>>): string | undefined
  /** Notes what came of one; gives what the model is told besides. */
  note(input: Readonly<Record<string, unknown>>, isError: boolean): string | undefined
  /** Calls that told something. */
  readonly told: number
}

/** Times that the very same thing may be asked. */
const sameAtMost = 3
/** Statements that may fail one after the other: the first, and one that mends it. */
const failuresAtMost = 2

export const openTries = (): Tries => {
  const asked = new Map<string, number>()
  let failures = 0
  let told = 0
  return {
    get told() {
      return told
    },
    refusal(name, input) {
      if (isStatement(input) && failures >= failuresAtMost) {
        return 'statements failed twice; look at the schema of the table first, or answer with what you have'
      }
      const key = hashOf([name, input])
      const times = (asked.get(key) ?? 0) + 1
      asked.set(key, times)
      return times > sameAtMost ? `this was asked ${sameAtMost} times already; use what it told` : undefined
    },
    note(input, isError) {
      if (!isError) {
        failures = 0
        told += 1
        return undefined
      }
      if (!isStatement(input)) return undefined
      failures += 1
      return failures < failuresAtMost ? 'Mend the statement and try once more.' : 'That was the one further try.'
    },
  }
}

const isStatement = (input: Readonly<Record<string, unknown>>): boolean => typeof input.sql === 'string'
